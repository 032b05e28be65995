// For how long a mailbox counts as found.
import { expect, test } from 'vitest'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { RecentRecipients } from './recent-recipients.ts'

const owner = { mailboxId: 'mbx_1', address: 'box@agents.localhost' } as MailboxOwner
const address = 'Box@agents.localhost'

test('a mailbox is known for a second from its lookup, but not after the clock is set back', () => {
  const recent = new RecentRecipients()
  expect(recent.recall(address, 0)).toBeNull()
  recent.note(address, owner, 10_000)
  expect([9_500, 10_000, 11_000].map((atMs) => recent.recall(address, atMs))).toEqual([owner, owner, owner])
  expect([8_000, 11_001].map((atMs) => recent.recall(address, atMs))).toEqual([null, null])
})

test('a mailbox that is no longer found is forgotten', () => {
  const recent = new RecentRecipients()
  recent.note(address, owner, 10_000)
  recent.note(address, null, 10_100)
  expect(recent.recall(address, 10_100)).toBeNull()
})

test('the last of many mailboxes are kept', () => {
  const recent = new RecentRecipients()
  for (let i = 0; i <= 1_000; i++) recent.note(`${i}@agents.localhost`, owner, 10_000)
  expect(recent.recall('0@agents.localhost', 10_000)).toBeNull()
  expect(recent.recall('1@agents.localhost', 10_000)).toBe(owner)
})
