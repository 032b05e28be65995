// Runs the command of a command line, and turns errors into a sentence and an exit code.
import { join } from 'node:path'
import { ApiError, Callsign, CallsignError, createFilePins, type Fetch, fetchByEnvironment } from '@callsign/sdk'
import { type Context, type Option, text, type Values } from './command.ts'
import { ownArguments, readCommandLine } from './command-line.ts'
import { commands } from './command-table.ts'
import { exitCodeOf } from './exit-codes.ts'
import { commandHelp, overview, topicHelp } from './help.ts'
import { LastCommand } from './session/last-command.ts'
import { chooseLogin, clientFolder, makeFolder } from './session/login-file.ts'
import { Input, type Keyboard } from './terminal/input.ts'
import { Output, type Screen, wantsColors } from './terminal/output.ts'
import { NotFoundError, UsageError } from './usage-error.ts'

export const version = '0.1.0'

/** The environment of the program. */
export type Surroundings = {
  stdin: Keyboard
  stdout: Screen
  stderr: Screen
  environment: NodeJS.ProcessEnv
  interruption?: () => AbortSignal
}

const never = () => new AbortController().signal

/** Runs one command line. Resolves with the exit code. */
export async function runProgram(args: string[], surroundings: Surroundings): Promise<number> {
  const ours = ownArguments(args)
  const output = new Output(ours.includes('--json'), surroundings.stdout, surroundings.stderr, wantsColors(surroundings.environment))
  let given: Given = { options: {}, values: {}, positionals: [] }
  try {
    if (ours.length === 1 && ours[0] === '--version') {
      output.result({ version }, () => version)
      return 0
    }
    const reading = readCommandLine(args, commands)
    if ('help' in reading) {
      output.raw(helpOf(reading.help))
      return reading.isAsked ? 0 : 2
    }
    given = { options: reading.command.options ?? {}, values: reading.values, positionals: reading.positionals }
    const context = createContext(surroundings, output, reading.values)
    const code = (await reading.command.run(context, reading.values, reading.positionals)) ?? 0
    await context.lastCommand.end(code === 0)
    return code
  } catch (error) {
    output.failure(describe(error, given))
    return exitCodeOf(error)
  }
}

function createContext(surroundings: Surroundings, output: Output, values: Values): Context {
  const { stdin, stderr, environment, interruption = never } = surroundings
  const input = new Input(stdin, stderr)
  const folder = clientFolder(environment)
  const lastCommand = new LastCommand(folder)
  const observedFetch: Fetch = async (address, init) => {
    const response = await fetchByEnvironment(address, init)
    lastCommand.observe(init.method, response.headers.get('date'))
    return response
  }
  const login = () => chooseLogin(values, environment, folder, input)
  const client = async () => {
    await makeFolder(folder)
    const chosen = await login()
    await lastCommand.begin(chosen)
    return new Callsign({ ...chosen, fetch: observedFetch, vault: { pins: createFilePins(join(folder, 'vault-pins.json')) } })
  }
  return { client, login, output, input, environment, interruption, folder, commands, lastCommand }
}

function helpOf(words: string[]): string {
  const command = commands.find((one) => one.words === words.join(' '))
  if (command) return commandHelp(command)
  return words[0] === undefined ? overview(commands) : topicHelp(words[0], commands)
}

/** Remedies for errors of the connection. */
const hints: Record<string, string> = {
  connection_failed: '. Check that the server runs, and the address in --url, CALLSIGN_URL or the login.',
}

type Failure = { code: string; message: string; [more: string]: unknown }
type Given = { options: Record<string, Option>; values: Values; positionals: string[] }

function describe(error: unknown, given: Given): Failure {
  if (error instanceof UsageError) return { code: 'usage', message: error.message }
  if (error instanceof NotFoundError) return { code: 'not_found', message: error.message }
  if (error instanceof ApiError) {
    const more = { status: error.status, request_id: error.requestId, details: error.details }
    return { code: error.code, message: sentencesOf(error, given), ...more }
  }
  if (error instanceof CallsignError) return { code: error.code, message: `${error.message}${hints[error.code] ?? ''}` }
  return { code: 'failure', message: error instanceof Error ? error.message : String(error) }
}

type Detail = { path?: string; message?: string }

/** The server's message with the names of the command line: its options for the fields, and its arguments for an unknown id. */
function sentencesOf({ status, message, details }: ApiError, { options, values, positionals }: Given): string {
  const agent = text(values, 'mailbox') ?? text(values, 'agent') ?? (typeof values.to === 'string' ? values.to : undefined)
  const isAboutAgent = agent !== undefined && /^No such (?:mailbox|identity|tunnel)\.$/.test(message)
  const named = isAboutAgent ? [agent] : positionals.filter((one) => one !== undefined)
  if (status === 404 && named.length > 0) return `${message.replace(/\.$/, '').replace('such tunnel', 'such agent')}: ${named.join(' ')}.`
  const lines = (Array.isArray(details) ? (details as Detail[]) : []).map(({ path = '', message: wrong = '' }) => {
    const field = path.replace(/^\//, '').replaceAll('/', '.')
    return { field, option: field.replace(/\..*$/, '').replaceAll('_', '-'), wrong: wrong.replace(/\.$/, '') }
  })
  const [first] = lines
  const start =
    first && Object.hasOwn(options, first.option) && message.startsWith(`${first.field} `)
      ? `--${first.option}${message.slice(first.field.length)}`
      : message
  const further = lines.filter(({ wrong }) => wrong !== '' && !message.includes(wrong))
  return [start, ...further.map(({ field, option, wrong }) => `${Object.hasOwn(options, option) ? `--${option}` : field} ${wrong}.`)].join(
    ' ',
  )
}
