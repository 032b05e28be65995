// docs/limits.md has every limit of the contract with the number that the code uses.
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { addressesMax } from '../packages/contract/src/addresses.ts'
import { approvalDaysMax } from '../packages/contract/src/approvals.ts'
import { attachmentBodyBytesMax, attachmentTextCharactersMax, messageBytesMax } from '../packages/contract/src/attachments.ts'
import { messageBatchMax, readBatchBytesMax, sendBatchMax } from '../packages/contract/src/batches.ts'
import { ClientId } from '../packages/contract/src/client-id.ts'
import { draftAttachmentsMax, draftVersionBytesMax, draftVersionsMax, scheduleDaysMax } from '../packages/contract/src/drafts.ts'
import { eventBodyBytesMax, socketTokenSeconds } from '../packages/contract/src/events.ts'
import { guardPatternsMax, instructionsCharactersMax } from '../packages/contract/src/identities.ts'
import { imessageMediaBytesMax, imessageTextCharactersMax } from '../packages/contract/src/imessage.ts'
import { allowedIpsMax, keyAgentsMax } from '../packages/contract/src/keys.ts'
import { mailboxLabelsMax } from '../packages/contract/src/labels.ts'
import { shareSecondsMax } from '../packages/contract/src/message-sharing.ts'
import * as metadata from '../packages/contract/src/metadata.ts'
import { CustomHeaders, recipientsMax, subjectCharactersMax } from '../packages/contract/src/outbound-mail.ts'
import { templatesMax, templateValueCharactersMax, templateVariablesMax } from '../packages/contract/src/templates.ts'
import { payloadBytesMax, secretsMax, vaultPayloadBytesMax } from '../packages/contract/src/vault-blob.ts'
import { waitSecondsMax } from '../packages/contract/src/waits.ts'
import { replayEventsMax } from '../packages/contract/src/webhooks.ts'
import { patternCharactersMax } from '../packages/mail/src/content/secrets/patterns.ts'
import { keptMs as idempotencyMs } from '../packages/server/src/edges/api/idempotency.ts'
import { keptMs as eventsMs } from '../packages/server/src/features/events/log/model.ts'
import { retentionMs } from '../packages/server/src/features/events/webhooks/model.ts'
import { domainsMax } from '../packages/server/src/features/mail/domains/model.ts'
import { namedMax } from '../packages/server/src/features/mail/inbound/wake-store.ts'
import { participantsMax } from '../packages/server/src/features/mail/messages/filing-store.ts'
import { loopMessagesMax } from '../packages/server/src/features/mail/outbound/agent-loop.ts'
import { automaticAnswerPauseMs } from '../packages/server/src/features/mail/outbound/automatic-answer.ts'
import { scannedCharactersMax } from '../packages/server/src/features/mail/outbound/outbound-guard.ts'
import { rulesMax } from '../packages/server/src/features/mail/rules/model.ts'
import { failuresPerHolderMax } from '../packages/server/src/features/vault/attempts.ts'

const root = resolve(import.meta.dirname, '..')
const rows = readFileSync(join(root, 'docs/limits.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
const numbers = new Map(rows.map(([, area, limit, number]) => [`${area}: ${limit}`, number as string]))

const day = 24 * 3_600_000
const count = (value: number): string => value.toLocaleString('en-US')
const bytes = (value: number): string => (value >= 1024 * 1024 ? `${value / 1024 / 1024} MB` : `${value / 1024} KB`)
const headers = CustomHeaders as unknown as { maxProperties: number; patternProperties: Record<string, { maxLength: number }> }

const clientIdLength = (ClientId as unknown as { maxLength: number }).maxLength

/** The numbers of the table, from the code. */
const expected: Record<string, string> = {
  'Sending: Recipients per message, To, Cc and Bcc together': count(recipientsMax),
  'Waking an agent: `message_ids` in a joined event': count(namedMax),
  'Accounts: Agents per key': count(keyAgentsMax),
  'Accounts: Address ranges per key': count(allowedIpsMax),
  'Accounts: Addresses per identity': count(addressesMax),
  'Accounts: Instructions of an identity': `${count(instructionsCharactersMax)} characters`,
  'Accounts: Mail rules per agent, and for every agent': count(rulesMax),
  'Accounts: Domains per organization': count(domainsMax),
  'Accounts: `client_id`': `${clientIdLength} characters of ASCII`,
  'Approval: Longest `expires_at`': `${approvalDaysMax} days`,
  'Mail: Message with attachments': bytes(messageBytesMax),
  'Mail: Subject': `${subjectCharactersMax} characters`,
  'Mail: Attachments per draft': count(draftAttachmentsMax),
  'Mail: Schedule of a draft': `${scheduleDaysMax} days ahead`,
  'Mail: Versions per draft': `${draftVersionsMax}, each at most ${bytes(draftVersionBytesMax)}`,
  'Mail: Custom headers': `${headers.maxProperties}, each at most ${count(Object.values(headers.patternProperties)[0]?.maxLength ?? 0)} characters`,
  'Mail: Messages with one correspondent on one thread before replies wait': `${loopMessagesMax} in 600 seconds`,
  'Mail: Answers to one correspondent elsewhere, on all threads, before they need approval': `${loopMessagesMax} in 600 seconds`,
  'Mail: Text of an attachment': `${count(attachmentTextCharactersMax)} characters, 100,000 by default`,
  'Mail: Text or file that the outbound guard searches': `${count(scannedCharactersMax)} characters`,
  'Mail: Patterns of the outbound guard': `${guardPatternsMax} per identity, each at most ${patternCharactersMax} characters`,
  'Mail: Automatic replies to one sender': `1 per ${automaticAnswerPauseMs === day ? 'day' : 'other time'}`,
  'Mail: Link to a shared message': `${shareSecondsMax / 86_400} days`,
  'Mail: Text and HTML of a message in an event': `${bytes(eventBodyBytesMax)} each`,
  'Threads: Labels per message, and per thread': `${metadata.labelsMax}, each at most 100 characters`,
  'Threads: Labels defined per mailbox': count(mailboxLabelsMax),
  'Threads: Participants shown per thread': count(participantsMax),
  'Batches: Messages sent by one request': `${sendBatchMax}, ${bytes(attachmentBodyBytesMax)} together`,
  'Batches: Messages changed by one request': count(messageBatchMax),
  'Batches: Messages read by one request': `${messageBatchMax}, ${bytes(readBatchBytesMax)} of text`,
  'Templates: Templates per organization': count(templatesMax),
  'Templates: Variables per template': `${templateVariablesMax}, each value at most ${count(templateValueCharactersMax)} characters`,
  'Tags and metadata: Tags per message': `${metadata.tagsMax}, each name once`,
  'Tags and metadata: Name of a tag, and its value': `${metadata.tagCharactersMax} ASCII letters, digits, \`_\` and \`-\``,
  'Tags and metadata: Keys of metadata per object': count(metadata.metadataKeysMax),
  'Tags and metadata: Metadata per object': `${bytes(metadata.metadataBytesMax)} of JSON`,
  'Tags and metadata: Key of metadata': `${metadata.metadataKeyCharactersMax} characters without colons and control characters`,
  'Tags and metadata: Value of metadata': `${count(metadata.metadataValueCharactersMax)} characters, a number without an exponent, or a boolean`,
  'API: JSON body': `1 MB, ${bytes(attachmentBodyBytesMax)} with attachments`,
  'API: Idempotency-Key': `255 characters, kept for ${idempotencyMs / day} days`,
  'API: Wait for a message or code': `${waitSecondsMax} seconds`,
  'Events and webhooks: Token for a WebSocket of events': `opens sockets for ${socketTokenSeconds} seconds`,
  'Events and webhooks: Events replayed by one request': count(replayEventsMax),
  'Events and webhooks: Events in the log': `${eventsMs / day} days`,
  'Events and webhooks: Deliveries of a webhook': `${retentionMs / day} days`,
  'iMessage and phone: Text of an iMessage': `${count(imessageTextCharactersMax)} characters`,
  'iMessage and phone: File of an iMessage': bytes(imessageMediaBytesMax),
  'Vault: Secrets per vault': `${count(secretsMax)}, ${bytes(vaultPayloadBytesMax)} together`,
  'Vault: Payload of a secret': bytes(payloadBytesMax),
  'Vault: Failed unlocks in 15 minutes': count(failuresPerHolderMax),
}

test.each(Object.entries(expected))('%s: %s', (limit, number) => {
  expect(numbers.get(limit)).toBe(number)
})

/** Limits of the contract that are not in the table, with the reason. */
const leftOut: Record<string, string> = {
  aheadBytesMax: 'the flow control of tunnels',
  charactersMax: 'the size of a tool result, in the description of the tool',
  dataBytesMax: 'the frames of the tunnel protocol',
  domainCharactersMax: 'the length of a host name',
  phoneHookBytesMax: 'callbacks of phone providers',
  saltBytesMax: 'the form of vault material, in the reference',
  windowBytesMax: 'the flow control of tunnels',
  wrappedKeyBytesMax: 'the form of vault material, in the reference',
}

test('every limit that the contract exports is in the table, or has a reason to be left out', () => {
  const found = globSync('packages/contract/src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^export const (\w+Max) = /gm)].map((match) => match[1] as string),
  )
  const used = readFileSync(import.meta.filename, 'utf8')
  const missing = found.filter(
    (name) => !(name in leftOut) && !new RegExp(`\\b${name}\\)?[^\\w'].*`).test(used.slice(used.indexOf('const expected'))),
  )
  expect(found.length).toBeGreaterThan(40)
  expect(missing).toEqual([])
})
