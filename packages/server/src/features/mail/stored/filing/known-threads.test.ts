// Threads that a message answers.
import { expect, test } from 'vitest'
import type { Filing } from './filing.ts'
import { answeredThreads, type KnownThreads } from './threading.ts'

const known: KnownThreads = new Map([
  [
    'mbx',
    new Map([
      ['<sent@a>', { threadId: 'thread-sent', messageId: 'msg_1', hasOutbound: true, isQuarantined: false }],
      ['<received@a>', { threadId: 'thread-received', messageId: 'msg_2', hasOutbound: false, isQuarantined: false }],
    ]),
  ],
])

const filing = (messageId: string | null, inReplyTo: string[], references: string[], mailboxId = 'mbx') =>
  ({
    message: { mailbox_id: mailboxId, rfc_message_id: messageId },
    thread: { references: { inReplyTo, references } },
  }) as unknown as Filing

test('a message answers the threads of the agent that its In-Reply-To and References name', () => {
  expect(answeredThreads(filing('<new@b>', ['<sent@a>'], []), known)).toEqual(['thread-sent'])
  expect(answeredThreads(filing('<new@b>', [], ['<received@a>', '<sent@a>']), known)).toEqual(['thread-sent'])
  expect(answeredThreads(filing('<new@b>', ['<received@a>'], ['<unknown@a>']), known)).toEqual([])
  expect(answeredThreads(filing('<new@b>', ['<sent@a>'], [], 'other'), known)).toEqual([])
})

test('its own Message-ID does not make it an answer, though it copies one of the agent', () => {
  expect(answeredThreads(filing('<sent@a>', [], []), known)).toEqual([])
  expect(answeredThreads(filing('<sent@a>', ['<received@a>'], ['<received@a>']), known)).toEqual([])
})

test('a message whose thread is known to the caller answers nothing', () => {
  const one = { message: { mailbox_id: 'mbx' }, thread: { known: { threadId: 'thread-sent', isNew: false, inReplyToMessageId: null } } }
  expect(answeredThreads(one as unknown as Filing, known)).toEqual([])
})
