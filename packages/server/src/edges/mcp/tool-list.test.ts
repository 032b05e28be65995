// The list of tools, which callers with the same agents and selection share.
import { expect, test } from 'vitest'
import { createOffers } from './tool-list.ts'

const selection = { toolsets: ['mail'] as const, readOnly: true }

test('a list is made once per selection', () => {
  const offerOf = createOffers()
  const first = offerOf({ agents: ['sales'], selection, results: 'text' })
  expect(offerOf({ agents: ['sales'], selection: { ...selection }, results: 'text' })).toBe(first)
  const others: Parameters<typeof offerOf>[0][] = [
    { agents: ['sales', 'support'], selection, results: 'text' },
    { agents: null, selection, results: 'text' },
    { agents: ['sales'], selection: { toolsets: ['mail'] as const }, results: 'text' },
    { agents: ['sales'], selection: { readOnly: true }, results: 'text' },
    { agents: ['sales'], selection, results: 'data' },
  ]
  for (const other of others) expect(offerOf(other).list).not.toEqual(first.list)
})

test('lists of many agents are forgotten, the oldest first', () => {
  const offerOf = createOffers()
  const ask = (handle: string) => offerOf({ agents: [handle, 'other'], selection, results: 'text' })
  const first = ask('agent_0')
  for (let i = 1; i < 200; i++) ask(`agent_${i}`)
  expect(ask('agent_0')).toBe(first)
  ask('agent_200')
  expect(ask('agent_0')).not.toBe(first)
})
