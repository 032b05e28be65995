// docs/keys.md has every scope of the contract with its meaning, in the order of the contract.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { agentScopes, defaultAgentScopes, type Scope, scopeMeanings, scopes } from '../packages/contract/src/scopes.ts'

const page = readFileSync(resolve(import.meta.dirname, '../docs/keys.md'), 'utf8')
const rows = page.split('\n').filter((line) => /^\| `\w+:\w+`/.test(line))

const ofAgents = (scope: Scope): string => {
  if (defaultAgentScopes.includes(scope)) return 'by default'
  return agentScopes.includes(scope) ? 'when listed' : 'not possible'
}

test('the table has every scope with its meaning and the keys of agents that can have it', () => {
  expect(rows).toEqual(scopes.map((scope) => `| \`${scope}\` | ${scopeMeanings[scope]} | ${ofAgents(scope)} |`))
})
