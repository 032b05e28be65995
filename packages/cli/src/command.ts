// The definition of one command with its words, options and action, and the context that it runs in.
import type { Callsign } from '@callsign/sdk'
import type { LastCommand } from './session/last-command.ts'
import type { Input } from './terminal/input.ts'
import type { Output } from './terminal/output.ts'
import { UsageError } from './usage-error.ts'

export type Option = {
  type: 'string' | 'boolean'
  multiple?: boolean
  /** The placeholder of the value in the help. FILE and FOLDER are completed with paths. */
  value?: string
  /** The accepted values. Other values are rejected before the command runs. */
  choices?: readonly string[]
  /** The field of the query that the option sets, in a list. */
  field?: string
  /** One sentence for the help. */
  about: string
}

/** The given options, by name. */
export type Values = Record<string, string | boolean | string[] | undefined>

/** The server and key of a command. */
export type Login = { url: string; apiKey: string }

export type Context = {
  /** The client, with the server and key of the options, the environment or the login. */
  client: () => Promise<Callsign>
  /** The server and key alone, for a protocol that is not the API. */
  login: () => Promise<Login>
  output: Output
  input: Input
  environment: NodeJS.ProcessEnv
  /** Fires when the user interrupts. For commands that run until then. If a command does not use it, an interrupt ends the program. */
  interruption: () => AbortSignal
  /** The folder of login and pins. */
  folder: string
  /** Every command, for completion. */
  commands: readonly Command[]
  /** The time of the previous command with this server and key. Available after `client`. */
  lastCommand: LastCommand
}

export type Command = {
  /** The words of the command, such as `vault get`. */
  words: string
  /** The arguments after the words, as printed in the help, such as `NAME` or `[NAME]`. Several are separated by spaces. */
  takes?: string
  /** Sentences for the help. Lists show the first one. */
  about: string
  /** A command line for the help, as typed in a shell. */
  example: string
  /** The ids of the API operations that the command uses. */
  operations: string[]
  options?: Record<string, Option>
  /** The accepted values of the first argument, for completion. */
  argumentChoices?: readonly string[]
  /** True for `run`, where the arguments after `--` belong to another program. */
  passesOn?: boolean
  /** `positionals` has one item per word of `takes`, which is undefined for an omitted word in brackets. */
  run: (context: Context, values: Values, positionals: string[]) => Promise<number | undefined>
}

/** Reads an optional text option that is given at most once. */
export const text = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** Reads a required option. Throws UsageError. */
export function needed(values: Values, name: string): string {
  const value = text(values, name)
  if (value === undefined || value === '') throw new UsageError(`--${name} is required.`)
  return value
}

/** Reads an option that may be repeated. */
export const several = (values: Values, name: string): string[] => {
  const value = values[name]
  return Array.isArray(value) ? value : []
}

/** Reads an option with a whole number. Throws UsageError. */
export function count(values: Values, name: string): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  if (!/^[0-9]{1,6}$/.test(value)) throw new UsageError(`--${name} must be a whole number.`)
  return Number(value)
}

/** Reads an option with one of these words, which are also the `choices` of the option. */
export function oneOf<Word extends string>(values: Values, name: string, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === values[name])
}

/** Reads a pair of options such as --read and --unread into a field. Throws UsageError when both are given. */
export function switchOf<F extends string>(values: Values, name: string, field: F): { [field in F]?: boolean } {
  const [on, off] = [values[name] === true, values[`un${name}`] === true]
  if (on && off) throw new UsageError(`--${name} and --un${name} are mutually exclusive. Give one of them.`)
  return (on || off ? { [field]: on } : {}) as { [field in F]?: boolean }
}

export const clientIdOption: Record<'client-id', Option> = {
  'client-id': { type: 'string', value: 'ID', about: 'Your own id. Creating again with it returns the existing object.' },
}

/** The given client id. */
export function readClientId(values: Values): { client_id?: string } {
  const clientId = text(values, 'client-id')
  return clientId === undefined ? {} : { client_id: clientId }
}
