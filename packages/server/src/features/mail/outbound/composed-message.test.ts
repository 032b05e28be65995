// The fields that people approve and the outbound guard searches: everything that a caller has chosen and recipients get.
import { searchForSecrets } from '@callsign/mail/content/secrets/message-search'
import { expect, test } from 'vitest'
import { composedFields, searchedFields } from './composed-message.ts'
import type { ComposedMessage, DeclaredFile } from './model.ts'

const secret = `ghp_${'x7Kd93bQmZt2LwPv5RcYs8HnJf4GaTe1Uo6B'}`
const message: ComposedMessage = {
  from: { name: 'Ann', address: 'ann@agents.example' },
  recipients: { to: [{ name: '', address: 'ada@example.com' }], cc: [], bcc: [] },
  replyTo: [],
  subject: 'Hello',
  text: 'Hello',
  html: '',
  headers: {},
  autoSubmitted: null,
}
const picture: DeclaredFile = { filename: 'a.png', content_type: 'image/png; name=a.png', content_id: 'a1' }
const reasonsOf = (more: Partial<ComposedMessage>, file: Partial<DeclaredFile> = {}): string[] =>
  searchForSecrets({ patterns: [], fields: searchedFields({ ...message, ...more }, [{ ...picture, ...file }]), files: [] }).map(
    ({ reason }) => reason,
  )

test.each<[string, Partial<ComposedMessage>, Partial<DeclaredFile>]>([
  ['the header References', { references: ['<first@example.com>', `<${secret}@example.com>`] }, {}],
  ['the types and content ids of the files', {}, { content_type: `image/png; note=${secret}` }],
  ['the types and content ids of the files', {}, { content_type: `image/png; note*=utf-8''${secret.replace('_', '%5F')}` }],
  ['the types and content ids of the files', {}, { content_id: secret }],
  ['the names of the files', {}, { filename: `${secret}.png` }],
])('a secret in %s is found', (where, more, file) => {
  expect(reasonsOf(more, file)).toEqual([`In ${where}, there seems to be a secret: GitHub token.`])
})

test('an answer with a chain of usual Message-IDs and a file is sent', () => {
  const references = [
    '<DM6PR12MB4242424242424242@DM6PR12MB4242.prod.example.com>',
    '<1701234567890.1234567@mail.example.com>',
    '<CAF+tz=abcdefghijklmnopqrstuvwxyz0123456789ABCDEF@mail.gmail.com>',
    '<20261128190000.4242@example.org>',
  ]
  expect(reasonsOf({ references })).toEqual([])
})

test('references are shown to the person that approves, and a message without them has no such field', () => {
  const references = ['<first@example.com>', '<second@example.com>']
  expect(composedFields({ ...message, references })).toContainEqual({ name: 'References', values: references })
  expect(composedFields(message).map(({ name }) => name)).toEqual(['From', 'To', 'Subject'])
})
