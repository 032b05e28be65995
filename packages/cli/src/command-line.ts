// Reads a command line. Options may stand before, between and after the words of the command.
import { parseArgs } from 'node:util'
import type { Command, Option, Values } from './command.ts'
import { closest, closestCommand } from './suggestions.ts'
import { UsageError } from './usage-error.ts'

/** Options of every command. */
export const globalOptions: Record<string, Option> = {
  url: { type: 'string', value: 'URL', about: 'The server. Defaults to CALLSIGN_URL, then the login, then http://localhost:8080.' },
  'api-key-file': {
    type: 'string',
    value: 'FILE',
    about: 'A file with the API key, - for standard input. Defaults to CALLSIGN_API_KEY, then the login.',
  },
  json: { type: 'boolean', about: 'Print JSON.' },
  help: { type: 'boolean', about: 'Print the help of the command.' },
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

/** The command with its options and arguments, or the words that a request for help names. */
export type Reading = { command: Command; values: Values; positionals: string[] } | { help: string[]; isAsked: boolean }

/** The arguments before `--`, which are for this program. */
export const ownArguments = (args: string[]): string[] => (args.includes('--') ? args.slice(0, args.indexOf('--')) : args)

/** Throws UsageError for everything that is not a known command with its own options and arguments. */
export function readCommandLine(args: string[], commands: readonly Command[]): Reading {
  const ours = ownArguments(args)
  refuseSecrets(ours)
  const anyOption = Object.assign({}, ...commands.map(({ options }) => options), globalOptions) as Record<string, Option>
  const { tokens } = parseArgs({ args: ours, options: typesOf(anyOption), allowPositionals: true, strict: false, tokens: true })
  const given = tokens.flatMap((token) => (token.kind === 'positional' ? [token] : []))
  const isHelp = tokens.some((token) => token.kind === 'option' && token.name === 'help')
  const words = given.map(({ value }) => value)
  if (words[0] === 'help') return readHelp(words.slice(1), commands, true)
  const command = findCommand(words, commands)
  if (!command) {
    if (isHelp || words.length === 0) {
      refuseUnknown(tokens, anyOption, 'callsign')
      return readHelp(words, commands, isHelp)
    }
    throw unknownCommand(words, commands, tokens, anyOption)
  }
  const own = new Set(given.slice(0, command.words.split(' ').length).map(({ index }) => index))
  return readOptions(
    command,
    ours.filter((_, index) => !own.has(index)),
    ours.length < args.length ? args.slice(ours.length + 1) : [],
  )
}

const findCommand = (words: string[], commands: readonly Command[]): Command | undefined =>
  [2, 1].flatMap((length) => commands.filter((command) => command.words === words.slice(0, length).join(' ')))[0]

function readHelp(words: string[], commands: readonly Command[], isAsked: boolean): Reading {
  const command = findCommand(words, commands)
  if (command) return { help: command.words.split(' '), isAsked }
  const topic = words.slice(0, 1)
  if (words.length > 1 || (words.length === 1 && !commands.some((one) => one.words.split(' ', 1)[0] === topic[0])))
    throw unknownCommand(words, commands, [], {})
  return { help: topic, isAsked }
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]

function unknownCommand(words: string[], commands: readonly Command[], tokens: Token[], known: Record<string, Option>): UsageError {
  // An unknown option before the command may have a value that was taken for a word of the command.
  const firstWord = tokens.findIndex(({ kind }) => kind === 'positional')
  refuseUnknown(tokens.slice(0, Math.max(firstWord, 0)), known, 'callsign')
  const [topic = ''] = words
  const inTopic = commands
    .filter((command) => command.words.startsWith(`${topic} `))
    .map((command) => command.words.slice(topic.length + 1))
  if (words.length === 1 && inTopic.length > 0)
    return new UsageError(`${topic} needs one more word: ${inTopic.join(', ')}. Run callsign help ${topic} for their meaning.`)
  const meant = closestCommand(
    words.slice(0, 2),
    commands.map((command) => command.words),
  )
  const hint = meant === undefined ? 'Run callsign help for the list.' : `Did you mean callsign ${meant}?`
  return new UsageError(`"${words.slice(0, 2).join(' ')}" is not a command. ${hint}`)
}

function refuseUnknown(tokens: Token[], known: Record<string, Option>, name: string): void {
  for (const token of tokens) {
    if (token.kind !== 'option' || Object.hasOwn(known, token.name)) continue
    const meant = closest(token.name, Object.keys(known))
    const hint = meant === undefined ? `Run ${name} --help for the options.` : `Did you mean --${meant}?`
    throw new UsageError(`${token.rawName} is not an option of ${name}. ${hint}`)
  }
}

function refuseSecrets(args: string[]): void {
  for (const argument of args) {
    const instead = argument.startsWith('--') ? secretOptions[argument.slice(2).split('=', 1)[0] as string] : undefined
    if (instead) {
      throw new UsageError(
        `Secrets are not taken from the command line, where other users and the shell's history see them. Use ${instead}.`,
      )
    }
  }
}

const typesOf = (options: Record<string, Option>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple }]) => [
      name,
      { type, ...(multiple && { multiple }), ...(name === 'help' && { short: 'h' }) },
    ]),
  )

function readOptions(command: Command, args: string[], passedOn: string[]): Reading {
  const options = { ...command.options, ...globalOptions }
  const config = { args, options: typesOf(options), allowPositionals: true, tokens: true } as const
  const name = `callsign ${command.words}`
  refuseUnknown(parseArgs({ ...config, strict: false }).tokens, options, name)
  let parsed: { values: Values; positionals: string[] }
  try {
    parsed = parseArgs({ ...config, strict: true }) as typeof parsed
  } catch (error) {
    throw new UsageError(`${toSentence((error as Error).message, options)} Run ${name} --help for the options.`)
  }
  const { values } = parsed
  if (values.help === true) return { help: command.words.split(' '), isAsked: true }
  for (const [option, { choices }] of Object.entries(options)) {
    for (const value of [values[option] ?? []].flat())
      if (choices && !choices.includes(String(value))) throw new UsageError(`--${option} must be ${listed(choices)}, not "${value}".`)
  }
  const positionals = placeArguments(command, command.passesOn ? parsed.positionals : [...parsed.positionals, ...passedOn])
  return { command, values, positionals: command.passesOn ? [...positionals, ...passedOn] : positionals }
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** The runtime's message about an option as a sentence with the placeholder of its value. */
function toSentence(message: string, options: Record<string, Option>): string {
  const [, name] = /'(?:-\w, )?--([\w-]+)/.exec(message) ?? []
  const option = name === undefined ? undefined : options[name]
  if (!option) return `${message.split('. ', 1)[0]}.`
  return option.type === 'string' ? `--${name} needs a value, ${option.value ?? 'TEXT'}.` : `--${name} does not take a value.`
}

/** Assigns arguments to their places. With fewer arguments than places, places in brackets stay empty, from the left. */
function placeArguments(command: Command, given: string[]): string[] {
  const places = command.takes?.split(' ') ?? []
  const usage = `Usage: callsign ${[command.words, ...places].join(' ')}`
  const needed = places.filter((place) => !place.startsWith('['))
  if (given.length < needed.length) throw new UsageError(`${needed[given.length]} is missing. ${usage}`)
  const [extra] = given.slice(places.length)
  if (extra !== undefined) {
    // Where a text comes before it, it is more likely a word of the text that was not quoted.
    const isHandle = needed.length === 0 && command.options?.agent !== undefined && /^@?[a-z0-9_]{2,32}$/.test(extra)
    const hint = isHandle ? ` Did you mean --agent ${extra}?` : ''
    throw new UsageError(`"${extra}" is one argument too many.${hint} ${usage}`)
  }
  let spare = given.length - needed.length
  const left = [...given]
  return places.map((place) => (!place.startsWith('[') || spare-- > 0 ? left.shift() : undefined)) as string[]
}
