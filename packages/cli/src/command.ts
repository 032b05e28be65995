// The shape of one command: its words, its options, what it does, and what it is given to do it with.
import type { Callsign } from '@callsign/sdk'
import type { Input } from './input.ts'
import type { Output } from './output.ts'
import { UsageError } from './usage-error.ts'

export type Option = {
  type: 'string' | 'boolean'
  multiple?: boolean
  /** What stands for the value in the help. */
  value?: string
  /** One sentence for the help. */
  about: string
}

/** What was typed, options by name. */
export type Values = Record<string, string | boolean | string[] | undefined>

export type Context = {
  /** The client, with the server and key of the options, the environment or the login. */
  client: () => Promise<Callsign>
  /** The same and where it leads, for login and whoami. */
  output: Output
  input: Input
  environment: NodeJS.ProcessEnv
  /** Fires when the user interrupts, for commands that run until then; without asking for it, an interrupt ends the program. */
  interruption: () => AbortSignal
  /** The folder of login and pins. */
  folder: string
}

export type Command = {
  /** Such as `vault get`. */
  words: string
  /** The arguments behind the words, as the help shows them: `NAME`, `[NAME]`; more than one by spaces. */
  takes?: string
  /** One sentence for the help. */
  about: string
  options?: Record<string, Option>
  /** True for `run`: what stands after `--` belongs to another program. */
  passesOn?: boolean
  run: (context: Context, values: Values, positionals: string[]) => Promise<number | undefined>
}

/** An option that may be there once, as text. */
export const text = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** An option that has to be there. Throws UsageError. */
export function needed(values: Values, name: string): string {
  const value = text(values, name)
  if (value === undefined || value === '') throw new UsageError(`--${name} is needed.`)
  return value
}

/** An option that may come several times. */
export const several = (values: Values, name: string): string[] => {
  const value = values[name]
  return Array.isArray(value) ? value : []
}

/** A whole number of an option. Throws UsageError. */
export function count(values: Values, name: string): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  if (!/^[0-9]{1,6}$/.test(value)) throw new UsageError(`--${name} takes a whole number.`)
  return Number(value)
}

/** An option that is one of these words. Throws UsageError. */
export function oneOf<Word extends string>(values: Values, name: string, words: readonly Word[]): Word | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  const word = words.find((one) => one === value)
  if (!word) throw new UsageError(`--${name} takes ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
  return word
}

/** Options of every list. */
export const listOptions: Record<string, Option> = {
  limit: { type: 'string', value: 'N', about: 'At most so many, 1-100.' },
  cursor: { type: 'string', value: 'CURSOR', about: 'Go on behind the page before: its next_cursor.' },
}

/** What lists ask the server for. */
export function listQuery(values: Values): { limit?: number; cursor?: string } {
  const limit = count(values, 'limit')
  const cursor = text(values, 'cursor')
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
}
