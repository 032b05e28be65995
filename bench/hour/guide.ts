// Reads the steps of docs/operating.md with their shell commands.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `blocks` are the shell commands of the step, in order. */
export type Step = { title: string; blocks: string[] }

const file = join(import.meta.dirname, '..', '..', 'docs', 'operating.md')

/** The steps of the path, by their numbers from 1. */
export function readSteps(): Step[] {
  const text = readFileSync(file, 'utf8')
  const path = text.slice(text.indexOf('## From an empty server'), text.indexOf('## In a container'))
  return path
    .split(/^\*\*(?=\d+\. )/m)
    .slice(1)
    .map((part) => ({
      title: part.split(/ \(|\.\*\*/, 1)[0] as string,
      blocks: [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] as string),
    }))
}
