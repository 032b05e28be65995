// Small inputs in `tests/cases/mail/`, each an example of a kind of mail or of a call.
import { readFileSync } from 'node:fs'

export const readCase = (name: string): string => readFileSync(new URL(`../cases/mail/${name}`, import.meta.url), 'utf8')

/** A message of the cases with CRLF line ends. */
export const readMailCase = (name: string): string => readCase(name).replace(/\r?\n/g, '\r\n')

/** The lines of a case without the empty ones. */
export const readLines = (name: string): string[] =>
  readCase(name)
    .split('\n')
    .filter((line) => line !== '')
