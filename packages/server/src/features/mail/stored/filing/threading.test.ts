// Threads by reference, with answers, chains, late parents, cycles, and messages that must not join.
import { expect, test } from 'vitest'
import { JoinedThreads, type KnownReferences, lookupOrder, placeInThread, placeQuarantined, type ThreadKeys } from './threading.ts'

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

test('an id of 998 bytes counts, in UTF-8', () => {
  const id = (bytes: number) => `<${'x'.repeat(bytes - 2)}>`
  expect(lookupOrder(keys(id(998), [id(999)]))).toEqual([id(998)])
  expect(lookupOrder(keys(`<${'é'.repeat(498)}>`, [`<${'é'.repeat(499)}>`]))).toEqual([`<${'é'.repeat(498)}>`])
})

test('the order of the ids: answered, the chain from its end, its own, each once', () => {
  expect(lookupOrder(keys('<4@a>', ['<3@a>'], ['<1@a>', '<2@a>', '<3@a>']))).toEqual(['<3@a>', '<2@a>', '<1@a>', '<4@a>'])
  expect(lookupOrder(keys(null, [], ['<1@a>']))).toEqual(['<1@a>'])
})

test('ids that join a thread know whether the agent has written in it', () => {
  const known: KnownReferences = new Map([
    ['<1@a>', { threadId: 'old', messageId: 'msg_1', hasOutbound: true, isQuarantined: false }],
    ['<2@a>', { threadId: 'other', messageId: 'msg_2', hasOutbound: false, isQuarantined: false }],
  ])
  expect(placeInThread(keys('<3@a>', ['<2@a>'], ['<1@a>']), 'msg_3', known, newThread)).toEqual({
    threadId: 'other',
    isNew: false,
    inReplyToMessageId: 'msg_2',
    unknownReferences: ['<3@a>'],
    joined: ['old'],
  })
  expect(known.get('<3@a>')).toEqual({ threadId: 'other', messageId: 'msg_3', hasOutbound: true, isQuarantined: false })
  placeInThread(keys('<5@a>', ['<4@a>']), 'msg_5', known, newThread)
  expect(known.get('<4@a>')).toMatchObject({ messageId: null, hasOutbound: false })
})

test('a quarantined message has a thread of its own, and its id places no other message', () => {
  const known: KnownReferences = new Map()
  const first = placeInThread(keys('<1@a>'), 'msg_1', known, newThread)
  const held = placeQuarantined(keys('<2@a>', ['<gone@a>', '<1@a>'], ['<1@a>']), 'msg_2', known, newThread)
  expect(held).toEqual({
    threadId: held.threadId,
    isNew: true,
    inReplyToMessageId: 'msg_1',
    unknownReferences: ['<2@a>'],
    joined: [],
  })
  expect(held.threadId).not.toBe(first.threadId)
  expect(known.get('<2@a>')).toEqual({ threadId: held.threadId, messageId: 'msg_2', hasOutbound: false, isQuarantined: true })
  expect(known.has('<gone@a>')).toBe(false)
  // A copy of a known id is not recorded again.
  expect(placeQuarantined(keys('<1@a>'), 'msg_3', known, newThread).unknownReferences).toEqual([])
  expect(placeInThread(keys('<4@a>', ['<2@a>']), 'msg_4', known, newThread)).toMatchObject({ isNew: true, inReplyToMessageId: null })
})

test('joined threads have one name, whatever the order', () => {
  const threadsOf = new JoinedThreads()
  expect([threadsOf.find('a'), threadsOf.groups()]).toEqual(['a', new Map()])
  threadsOf.join('b', 'a')
  threadsOf.join('d', 'c')
  threadsOf.join('a', 'c')
  threadsOf.join('c', 'b')
  expect(['a', 'b', 'c', 'd', 'e'].map((id) => threadsOf.find(id))).toEqual(['b', 'b', 'b', 'b', 'e'])
  const [[name, members = []] = [], ...others] = [...threadsOf.groups()]
  expect([name, members.toSorted(), others]).toEqual(['b', ['a', 'b', 'c', 'd'], []])
})
