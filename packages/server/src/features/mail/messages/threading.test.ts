// Threads by reference, with answers, chains, late parents, cycles, and messages that must not join.
import { expect, test } from 'vitest'
import { type KnownReferences, lookupOrder, placeInThread, type ThreadKeys } from './threading.ts'

let threads = 0
const newThread = () => `thread-${++threads}`
const keys = (messageId: string | null, inReplyTo: string[] = [], references: string[] = []): ThreadKeys => ({
  mailboxId: 'mbx',
  messageId,
  inReplyTo,
  references,
})

test('a reply joins the thread of its parent and names the parent', () => {
  const known: KnownReferences = new Map()
  const first = placeInThread(keys('<1@a>'), 'msg_1', known, newThread)
  const second = placeInThread(keys('<2@b>', ['<1@a>'], ['<1@a>']), 'msg_2', known, newThread)
  expect(first.isNew).toBe(true)
  expect(second).toMatchObject({ threadId: first.threadId, isNew: false, inReplyToMessageId: 'msg_1', unknownReferences: ['<2@b>'] })
})

test('without In-Reply-To the last known id of References decides', () => {
  const known: KnownReferences = new Map()
  const one = placeInThread(keys('<1@a>'), 'msg_1', known, newThread)
  const two = placeInThread(keys('<2@a>'), 'msg_2', known, newThread)
  expect(placeInThread(keys('<3@a>', [], ['<1@a>', '<2@a>', '<gone@a>']), 'msg_3', known, newThread).threadId).toBe(two.threadId)
  expect(placeInThread(keys('<4@a>', ['<1@a>'], ['<2@a>']), 'msg_4', known, newThread).threadId).toBe(one.threadId)
})

test('a parent that arrives after its children joins their thread', () => {
  const known: KnownReferences = new Map()
  const child = placeInThread(keys('<2@a>', ['<1@a>'], ['<1@a>']), 'msg_2', known, newThread)
  const sibling = placeInThread(keys('<3@a>', ['<1@a>'], ['<1@a>']), 'msg_3', known, newThread)
  const parent = placeInThread(keys('<1@a>'), 'msg_1', known, newThread)
  expect(sibling.threadId).toBe(child.threadId)
  expect(parent).toMatchObject({ threadId: child.threadId, isNew: false })
  expect(known.get('<1@a>')?.messageId).toBe('msg_1')
})

test('a message that names itself, or a cycle, is placed once', () => {
  const known: KnownReferences = new Map()
  const self = placeInThread(keys('<1@a>', ['<1@a>'], ['<1@a>', '<1@a>']), 'msg_1', known, newThread)
  expect(self).toMatchObject({ isNew: true, unknownReferences: ['<1@a>'] })
  const other = placeInThread(keys('<2@a>', ['<1@a>']), 'msg_2', known, newThread)
  const back = placeInThread(keys('<1@a>', ['<2@a>']), 'msg_3', known, newThread)
  expect(new Set([self.threadId, other.threadId, back.threadId]).size).toBe(1)
})

test('messages without ids or references each start a thread, even with equal subjects', () => {
  const known: KnownReferences = new Map()
  const one = placeInThread(keys(null), 'msg_1', known, newThread)
  const two = placeInThread(keys(null), 'msg_2', known, newThread)
  expect(one.threadId).not.toBe(two.threadId)
})

test('an id longer than a line is ignored', () => {
  const long = `<${'x'.repeat(1000)}@a>`
  expect(lookupOrder(keys(long, [long], ['<1@a>']))).toEqual(['<1@a>'])
})
