// docs/development/flows.md quotes the function of each flow, word for word.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const linesMax = 40
const page = readFileSync(join(root, 'docs/development/flows.md'), 'utf8')

/** The functions of the page: the file that the line before names, the name, and the text. */
const quoted = [...page.matchAll(/^`([\w/.-]+\.ts)`:\n\n```ts\n(export (?:async )?function (\w+)[\s\S]*?)```$/gm)].map(
  ([, path, text, name]) => ({ path: path as string, text: text as string, name: name as string }),
)

/** An exported function with its last brace, or null. */
function findFunction(path: string, name: string): string | null {
  const source = readFileSync(join(root, 'packages/server/src', path), 'utf8')
  return new RegExp(`^export (?:async )?function ${name}\\b[\\s\\S]*?^}\\n`, 'm').exec(source)?.[0] ?? null
}

test.each(['receive', 'send', 'deliver', 'deliverWebhook', 'serveTunnelRequest', 'unlock'])('the page quotes %s', (name) => {
  expect(quoted.map((flow) => flow.name)).toContain(name)
})

test.each(quoted)('$name is quoted as it is, and fits on a screen (remedy: copy it from $path)', ({ path, name, text }) => {
  expect(text).toBe(findFunction(path, name))
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(linesMax)
})

test('a function that has changed since is found', () => {
  const [first] = quoted
  expect(first?.text.replace('await', 'await ')).not.toBe(findFunction(first?.path ?? '', first?.name ?? ''))
  expect(findFunction(first?.path ?? '', 'nowhere')).toBeNull()
})
