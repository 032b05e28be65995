// The words that completion scripts offer, from the command table.
import type { Command, Option } from '../command.ts'
import { globalOptions } from '../command-line.ts'
import { summaryOf, topicOf, topics } from '../help.ts'

export type Candidate = { word: string; about: string }
export type CommandCandidates = {
  words: string
  /** Its own options, then those of every command. */
  options: [name: string, option: Option][]
  /** The accepted values of its first argument, if they are fixed. */
  argumentChoices: readonly string[]
}

export type Candidates = {
  topics: Candidate[]
  /** The second words, by first word. */
  actions: Map<string, Candidate[]>
  commands: CommandCandidates[]
  /** Options with a value, in any command. */
  valued: string[]
  /** Options whose value is a path. */
  files: string[]
}

const takesPath = ({ value }: Option): boolean => value === 'FILE' || value === 'FOLDER'

export function candidatesOf(commands: readonly Command[]): Candidates {
  const actions = new Map<string, Candidate[]>()
  for (const { words, about } of commands) {
    const [topic = '', action] = words.split(' ')
    if (action !== undefined) actions.set(topic, [...(actions.get(topic) ?? []), { word: action, about: summaryOf(about) }])
  }
  const own = commands.map((command) => ({
    words: command.words,
    options: Object.entries({ ...command.options, ...globalOptions }),
    argumentChoices: command.argumentChoices ?? [],
  }))
  const all = own.flatMap(({ options }) => options)
  const namesOf = (chosen: [string, Option][]) => [...new Set(chosen.map(([name]) => name))].toSorted()
  return {
    topics: [...new Set(commands.map(topicOf))].map((word) => ({ word, about: topics[word] ?? '' })),
    actions,
    commands: own,
    valued: namesOf(all.filter(([, option]) => option.type === 'string')),
    files: namesOf(all.filter(([, option]) => takesPath(option))),
  }
}

/** A word for a POSIX shell, in single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
