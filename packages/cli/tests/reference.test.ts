// The CLI examples of the API reference name commands and options that exist.

import { afterAll, expect, test } from 'vitest'
import { operationDetails } from '../../contract/src/reference/details.ts'
import { createCommandLine } from './command-line.ts'

const commandLine = createCommandLine()
afterAll(() => commandLine.remove())

/** Splits a command line at spaces outside of double quotes. */
const wordsOf = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string))

const examples = Object.entries(operationDetails).flatMap(([id, { cli }]) => (cli ? [[id, cli] as const] : []))

test.each(examples)('%s: %s', async (_id, line) => {
  const [program, ...words] = wordsOf(line)
  expect(program).toBe('callsign')
  const { code, out, error } = await commandLine.run([...words, '--help'])
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(out).toContain(`callsign ${words[0]}`)
})
