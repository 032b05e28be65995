// The option --config, which every command takes.
import { CommandFailed } from './failure.ts'

/** Takes `--config FILE` out of the words of the command line. */
export function takeConfigOption(words: string[]): { file: string | null; words: string[] } {
  const at = words.findIndex((word) => word === '--config' || word.startsWith('--config='))
  if (at === -1) return { file: null, words }
  const isJoined = words[at] !== '--config'
  const file = isJoined ? (words[at] as string).slice('--config='.length) : words[at + 1]
  if (!file) throw new CommandFailed('--config needs the name of a file', true)
  return { file, words: words.toSpliced(at, isJoined ? 1 : 2) }
}
