// Finds the command, reads its options, runs it, and turns errors into a sentence and an exit code.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ApiError, Callsign, CallsignError, createFilePins } from '@callsign/sdk'
import type { Command, Context, Option, Values } from './command.ts'
import { accountCommands } from './commands/accounts.ts'
import { domainCommands } from './commands/domains.ts'
import { draftCommands } from './commands/drafts.ts'
import { identityCommands } from './commands/identities.ts'
import { imessageCommands } from './commands/imessage.ts'
import { keyCommands } from './commands/keys.ts'
import { listenCommands } from './commands/listen.ts'
import { mailRuleCommands } from './commands/mail-rules.ts'
import { mailWaitCommands } from './commands/mail-wait.ts'
import { messageCommands } from './commands/messages.ts'
import { outboundMailCommands } from './commands/outbound-mail.ts'
import { phoneCommands } from './commands/phones.ts'
import { quarantineCommands } from './commands/quarantine.ts'
import { simulatorCommands } from './commands/simulator.ts'
import { suppressionCommands } from './commands/suppressions.ts'
import { tunnelCommands } from './commands/tunnels.ts'
import { vaultCommands } from './commands/vault.ts'
import { vaultKeyCommands } from './commands/vault-keys.ts'
import { vaultRunCommands } from './commands/vault-run.ts'
import { exitCodeOf } from './exit-codes.ts'
import { Input, type Keyboard } from './input.ts'
import { chooseLogin, clientFolder, makeFolder } from './login-file.ts'
import { Output, type Screen } from './output.ts'
import { UsageError } from './usage-error.ts'

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

const commands: Command[] = [
  ...accountCommands,
  ...identityCommands,
  ...domainCommands,
  ...outboundMailCommands,
  ...draftCommands,
  ...messageCommands,
  ...mailRuleCommands,
  ...quarantineCommands,
  ...suppressionCommands,
  ...mailWaitCommands,
  ...phoneCommands,
  ...imessageCommands,
  ...simulatorCommands,
  ...listenCommands,
  ...tunnelCommands,
  ...keyCommands,
  ...vaultCommands,
  ...vaultKeyCommands,
  ...vaultRunCommands,
]

const globalOptions: Record<string, Option> = {
  url: { type: 'string', value: 'URL', about: 'The server. Defaults to CALLSIGN_URL, then the login.' },
  'api-key-file': {
    type: 'string',
    value: 'FILE',
    about: 'A file with the API key, - for standard input. Defaults to CALLSIGN_API_KEY, then the login.',
  },
  json: { type: 'boolean', about: 'Print JSON.' },
  help: { type: 'boolean', about: 'Print this.' },
}

/** Common attempts at options that would show a secret to other users and in the shell's history, with the alternatives. */
const secretOptions: Record<string, string> = {
  'api-key': '--api-key-file, CALLSIGN_API_KEY or `callsign login`',
  'vault-key': '--vault-key-file, CALLSIGN_VAULT_KEY or the prompt',
  'new-vault-key': '--new-vault-key-file or the prompt',
  'recovery-code': '--recovery-code-file, CALLSIGN_RECOVERY_CODE or the prompt',
  value: '--value-file, --member NAME=env:VARIABLE or the prompt',
  password: '--value-file, --member password=env:VARIABLE or the prompt',
  'private-key': '--value-file or --member private_key=file:PATH',
  token: '--value-file or the prompt',
}

/** Runs one command line. Resolves with the exit code. */
export async function runProgram(
  args: string[],
  { stdin, stdout, stderr, environment, interruption = never }: Surroundings,
): Promise<number> {
  const ours = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const output = new Output(ours.includes('--json'), stdout, stderr)
  try {
    if (ours.length === 1 && ours[0] === '--version') {
      output.result({ version }, () => version)
      return 0
    }
    const found = findCommand(ours)
    if (!found) {
      const isQuestion = ours.length === 0 || ours.includes('--help') || ours[0] === 'help'
      if (!isQuestion)
        throw new UsageError(
          `"${ours.filter((word) => !word.startsWith('-')).join(' ')}" is not a command. Run callsign --help for the list.`,
        )
      output.raw(overview(ours.filter((word) => word !== 'help' && !word.startsWith('-'))))
      return ours.length === 0 ? 2 : 0
    }
    const { command, rest } = found
    const { values, positionals } = readArguments(command, [...rest, ...args.slice(ours.length)])
    if (values.help) {
      output.raw(helpOf(command))
      return 0
    }
    const input = new Input(stdin, stderr)
    const folder = clientFolder(environment)
    const client: Context['client'] = async () => {
      await makeFolder(folder)
      const { url, apiKey } = await chooseLogin(values, environment, folder, input)
      return new Callsign({ url, apiKey, vault: { pins: createFilePins(join(folder, 'vault-pins.json')) } })
    }
    return (await command.run({ client, output, input, environment, interruption, folder }, values, positionals)) ?? 0
  } catch (error) {
    output.failure(describe(error))
    return exitCodeOf(error)
  }
}

function findCommand(args: string[]): { command: Command; rest: string[] } | null {
  for (const length of [2, 1]) {
    const command = commands.find(({ words }) => words === args.slice(0, length).join(' ') && words.split(' ').length === length)
    if (command) return { command, rest: args.slice(length) }
  }
  return null
}

function readArguments(command: Command, args: string[]): { values: Values; positionals: string[] } {
  const cut = args.indexOf('--')
  const ours = cut < 0 ? args : args.slice(0, cut)
  const passedOn = cut < 0 ? [] : args.slice(cut + 1)
  for (const argument of ours) {
    const instead = argument.startsWith('--') ? secretOptions[argument.slice(2).split('=', 1)[0] as string] : undefined
    if (instead) {
      throw new UsageError(
        `Secrets are not taken from the command line, where other users and the shell's history see them. Use ${instead}.`,
      )
    }
  }
  let parsed: { values: Values; positionals: string[] }
  try {
    const options = { ...globalOptions, ...command.options }
    const types = Object.fromEntries(
      Object.entries(options).map(([name, { type, multiple }]) => [name, { type, ...(multiple && { multiple }) }]),
    )
    parsed = parseArgs({ args: ours, options: types, allowPositionals: true, strict: true }) as typeof parsed
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}. Run callsign ${command.words} --help for the options.`)
  }
  const takes = command.takes?.split(' ') ?? []
  const positionals = command.passesOn ? parsed.positionals : [...parsed.positionals, ...passedOn]
  const least = takes.filter((name) => !name.startsWith('[')).length
  if (!parsed.values.help && (positionals.length < least || positionals.length > takes.length)) {
    throw new UsageError(`callsign ${command.words} takes ${command.takes ?? 'no arguments'}, got ${positionals.length}.`)
  }
  return { values: parsed.values, positionals: command.passesOn ? [...positionals, ...passedOn] : positionals }
}

function describe(error: unknown): { code: string; message: string; [more: string]: unknown } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message }
  if (error instanceof ApiError) {
    const details = Array.isArray(error.details) ? error.details.map((one) => ` ${one?.path ?? ''}: ${one?.message ?? ''}.`).join('') : ''
    const more = { status: error.status, request_id: error.requestId, details: error.details }
    return { code: error.code, message: `${error.message}${details}`, ...more }
  }
  if (error instanceof CallsignError) return { code: error.code, message: error.message }
  return { code: 'failure', message: error instanceof Error ? error.message : String(error) }
}

const lineOf = ({ words, takes, passesOn, about }: Command): [string, string] => [
  [words, takes, passesOn && '-- COMMAND ARGUMENT…'].filter(Boolean).join(' '),
  about,
]

function columns(rows: [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

function overview(words: string[]): string {
  const chosen = commands.filter((command) => words.length === 0 || command.words.split(' ')[0] === words[0])
  return `Manages communication identities for agents from the command line.

${columns((chosen.length > 0 ? chosen : commands).map(lineOf))}

Options of every command:
${columns(Object.entries(globalOptions).map(optionLine))}

The exit code is 0 for success, 1 for a failure, 2 for wrong usage, 3 for a rejected key, 4 for not found and 5 for a conflict.`
}

const optionLine = ([name, { value, about }]: [string, Option]): [string, string] => [`--${name}${value ? ` ${value}` : ''}`, about]

const helpOf = (command: Command): string => `callsign ${lineOf(command)[0]}

${command.about}

${columns(Object.entries({ ...command.options, ...globalOptions }).map(optionLine))}`
