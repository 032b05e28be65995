// Runs `callsignd setup`. Asks for the settings of a new installation, writes them into one file, and prints and checks the DNS records.
import { existsSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { loadConfig, settingLine, settingsFileName } from '../config/file.ts'
import type { Config } from '../config/settings.ts'
import { createLog } from '../core/log.ts'
import { runDoctor } from './doctor.ts'
import { CommandFailed } from './failure.ts'
import { addressNames, mailRecords } from './mail-records.ts'
import { type Answers, type Question, questions, settingsOf } from './setup-questions.ts'

type Print = (line: string) => void
type Options = { given: Answers; output: string; isForced: boolean; isChecked: boolean }

const usage = `usage: callsignd setup [flags]
  --answers FILE          answers as lines of name=value, in place of flags
  --output FILE           file to write (${settingsFileName})
  --force                 replace that file
  --no-check              do not run doctor afterwards
${questions.map(({ name, text }) => `  --${name.padEnd(21)} ${text}`).join('\n')}
Without a terminal, questions that have no flag take their default.`

/** Returns the exit code. Throws CommandFailed for a wrong or missing answer. */
export async function runSetup(args: string[], print: Print): Promise<number> {
  if (args.includes('--help')) {
    print(usage)
    return 0
  }
  const options = readOptions(args)
  const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : null
  let answers: Answers
  try {
    if (terminal) print('Press Enter to take the answer in brackets.')
    answers = await collect(options.given, terminal, print)
    await requirePermission(options, terminal)
  } finally {
    terminal?.close()
  }
  const config = write(options.output, answers)
  print('')
  print(`Wrote ${resolve(options.output)}. Only you can read it. callsignd reads it when it starts in this directory, or with --config.`)
  printRecords(config, answers, print)
  const isInPlace = options.output === settingsFileName
  const start = `callsignd${isInPlace ? '' : ` --config ${options.output}`}`
  if (options.isChecked) {
    print('')
    print('Checks (callsignd doctor). Some of them pass only once the records are published and the server runs:')
    await runDoctor({ config, log: createLog('error'), print })
  }
  print('')
  print('Next')
  print('  1. Publish the DNS records.')
  print(`  2. Create the database with the DKIM keys, and publish the records that this prints: npx --no ${start} dkim`)
  print(`  3. Start the server: npx --no ${start}`)
  print(`  4. Check everything: npx --no ${start} doctor`)
  return 0
}

function readOptions(args: string[]): Options {
  const flags = Object.fromEntries(questions.map(({ name }) => [name, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...flags,
        answers: { type: 'string' },
        output: { type: 'string' },
        force: { type: 'boolean' },
        'no-check': { type: 'boolean' },
      },
    })
    const { answers, output = settingsFileName, force = false, 'no-check': noCheck = false, ...given } = values
    const fromFile = typeof answers === 'string' ? readAnswers(answers) : {}
    return { given: { ...fromFile, ...(given as Answers) }, output: String(output), isForced: force === true, isChecked: noCheck !== true }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed((error as Error).message, true)
  }
}

function readAnswers(path: string): Answers {
  if (!existsSync(path)) throw new CommandFailed(`the file of answers ${path} does not exist`)
  const answers: Answers = {}
  for (const [index, line] of readFileSync(path, 'utf8').split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, name = '', value = ''] = /^\s*([a-z-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (!questions.some((question) => question.name === name))
      throw new CommandFailed(`${path}, line ${index + 1}: answers are ${questions.map((question) => question.name).join(', ')}`)
    answers[name] = value
  }
  return answers
}

/** Answers to all questions that apply, each from its flag, the operator or its default. */
async function collect(given: Answers, terminal: Interface | null, print: Print): Promise<Answers> {
  const answers: Answers = {}
  for (const question of questions) {
    if (question.isAsked && !question.isAsked(answers)) continue
    const flag = given[question.name]
    if (flag !== undefined) answers[question.name] = checked(question, flag)
    else if (terminal) answers[question.name] = await ask(question, answers, terminal, print)
    else answers[question.name] = checked(question, question.fallback(answers) ?? missing(question))
  }
  return answers
}

function missing({ name, text }: Question): never {
  throw new CommandFailed(`--${name} is needed: ${text}`, true)
}

function checked({ name, check }: Question, answer: string): string {
  try {
    check(answer)
    return answer
  } catch (error) {
    throw new CommandFailed(`--${name} ${(error as Error).message}, not "${answer}"`, true)
  }
}

/** Asks again until the answer is good. */
async function ask(question: Question, answers: Answers, terminal: Interface, print: Print): Promise<string> {
  const fallback = question.fallback(answers)
  for (;;) {
    const typed = (await terminal.question(`${question.text}${fallback === null ? '' : ` [${fallback}]`}: `)).trim()
    const answer = typed === '' ? fallback : typed
    if (answer === null) continue
    try {
      question.check(answer)
      return answer
    } catch (error) {
      print(`  The answer ${(error as Error).message}.`)
    }
  }
}

/** An existing file is replaced only when the operator says so. */
async function requirePermission({ output, isForced }: Options, terminal: Interface | null): Promise<void> {
  if (!existsSync(output) || isForced) return
  const answer = terminal ? await terminal.question(`${output} exists. Replace it? yes or no [no]: `) : 'no'
  if (answer.trim() !== 'yes')
    throw new CommandFailed(`${output} exists and was not changed: name another file with --output, or give --force`)
}

/** Writes the file whole, for its owner only, and reads it back. */
function write(output: string, answers: Answers): Config {
  const lines = settingsOf(answers).map(([name, value]) => settingLine(name, value))
  const partial = `${output}.partial-${process.pid}`
  writeFileSync(partial, ['# Settings of callsignd. docs/configuration.md lists all of them.', ...lines, ''].join('\n'), {
    mode: 0o600,
    flag: 'wx',
  })
  try {
    const config = loadConfig(partial)
    renameSync(partial, output)
    return config
  } catch (error) {
    unlinkSync(partial)
    throw error
  }
}

function printRecords(config: Config, { delivery }: Answers, print: Print): void {
  print('')
  print('DNS records to publish')
  for (const { name, purpose } of addressNames(config)) print(`  ${name}.  A  the public address of this server    (${purpose})`)
  for (const { type, name, value, priority } of mailRecords(config, []))
    print(`  ${name}.  ${type}  ${type === 'MX' ? `${priority} ${value}.` : `"${value}"`}`)
  print('  The DKIM records are printed in step 2.')
  print('  The reverse name (PTR) of the address, set at your hosting provider:')
  print(`  ${config.mailDomain}`)
  if (delivery === 'relay') print('  Add what your relay asks for to the SPF record, such as include:… before ~all.')
}
