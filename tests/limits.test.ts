// docs/limits.md has every limit of the contract with the number that the code uses.
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { scannedCharactersMax } from '@callsign/mail/content/secrets/message-search'
import { expect, test } from 'vitest'
import { eventBodyBytesMax, socketTokenSeconds } from '../packages/contract/src/events/events.ts'
import { replayEventsMax } from '../packages/contract/src/events/webhooks.ts'
import { addressesMax } from '../packages/contract/src/operations/account/addresses.ts'
import { guardPatternsMax, instructionsCharactersMax } from '../packages/contract/src/operations/account/identities.ts'
import { allowedIpsMax, keyAgentsMax } from '../packages/contract/src/operations/account/keys.ts'
import { pauseOrganization } from '../packages/contract/src/operations/account/organization.ts'
import { ClientId } from '../packages/contract/src/operations/client-id.ts'
import { approvalDaysMax } from '../packages/contract/src/operations/drafts/approvals.ts'
import {
  draftAttachmentsMax,
  draftVersionBytesMax,
  draftVersionsMax,
  rejectDraft,
  scheduleDaysMax,
} from '../packages/contract/src/operations/drafts/drafts.ts'
import { templatesMax, templateValueCharactersMax, templateVariablesMax } from '../packages/contract/src/operations/drafts/templates.ts'
import { imessageMediaBytesMax, imessageTextCharactersMax } from '../packages/contract/src/operations/imessage.ts'
import {
  attachmentBodyBytesMax,
  attachmentTextCharactersMax,
  messageBytesMax,
} from '../packages/contract/src/operations/mail/attachments.ts'
import { messageBatchMax, readBatchBytesMax, sendBatchBytesMax, sendBatchMax } from '../packages/contract/src/operations/mail/batches.ts'
import { mailboxLabelsMax } from '../packages/contract/src/operations/mail/labels.ts'
import { shareSecondsMax } from '../packages/contract/src/operations/mail/message-sharing.ts'
import { CustomHeaders, recipientsMax, subjectCharactersMax, Text } from '../packages/contract/src/operations/mail/outbound-mail.ts'
import * as metadata from '../packages/contract/src/operations/metadata.ts'
import { waitSecondsMax } from '../packages/contract/src/operations/waits.ts'
import { payloadBytesMax, secretsMax, vaultPayloadBytesMax } from '../packages/contract/src/vault/blob.ts'
import { patternCharactersMax } from '../packages/mail/src/content/secrets/patterns.ts'
import { targetBytesMax } from '../packages/server/src/edges/api/exchange.ts'
import { keptMs as idempotencyMs } from '../packages/server/src/edges/api/idempotency.ts'
import { depthMax } from '../packages/server/src/edges/api/input/body-check.ts'
import { arrivalLimits } from '../packages/server/src/edges/api/listener.ts'
import { stalledMsMax } from '../packages/server/src/edges/gateway/responses/limit-reading.ts'
import {
  windowMs as attemptsWindowMs,
  byAccount,
  byAddress,
  byPair,
  byRegistration,
} from '../packages/server/src/features/account/attempts/model.ts'
import { keptMs as eventsMs } from '../packages/server/src/features/events/log/model.ts'
import { attemptTimeoutMs, failingMsMax, retentionMs } from '../packages/server/src/features/events/webhooks/model.ts'
import { domainsMax } from '../packages/server/src/features/mail/domains/model.ts'
import { namedMax } from '../packages/server/src/features/mail/inbound/wake-store.ts'
import { loopMessagesMax } from '../packages/server/src/features/mail/outbound/agent-loop.ts'
import { automaticAnswerPauseMs } from '../packages/server/src/features/mail/outbound/automatic-answer.ts'
import { rulesMax } from '../packages/server/src/features/mail/rules/model.ts'
import { participantsMax } from '../packages/server/src/features/mail/stored/filing/filing-store.ts'
import { reasonCharactersMax } from '../packages/server/src/features/mail/suppressions/model.ts'
import { capturedBytesMax, requestsKeptMax, requestsKeptMs } from '../packages/server/src/features/tunnels/model.ts'
import { failuresPerHolderMax, failuresPerTypeMax } from '../packages/server/src/features/vault/unlock.ts'

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

/** A number of the server that its module does not export, from the text of the module. */
function constant(path: string, name: string): number {
  const source = readFileSync(join(root, 'packages', path), 'utf8')
  const found = new RegExp(`\\b${name}(?: =|:) ([\\d_.]+(?: \\* [\\d_.]+)*)(?![\\w.])`).exec(source)
  if (!found) throw new Error(`packages/${path} does not have the number ${name}`)
  return (found[1] as string).split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1)
}
const server = (path: string, name: string): number => constant(`server/src/${path}`, name)
const feature = (path: string, name: string): number => server(`features/${path}`, name)
const searchRounds = feature('mail/stored/search/search.ts', 'searchRounds')
const bodies = (name: string): number => server('edges/api/input/body-reader.ts', name)
const smtp = (name: string): number => server('edges/smtp/server/limits.ts', name)
const reasonOf = (operation: { body?: unknown }): number =>
  (operation.body as { properties: { reason: { maxLength: number } } }).properties.reason.maxLength
const attempts = (subject: { max: number }): string => `${count(subject.max)} in ${attemptsWindowMs / 60_000} minutes`

/** The numbers of the table, from the code. */
const expected: Record<string, string> = {
  'Sending: Recipients per message, To, Cc and Bcc together': count(recipientsMax),
  'Sending: Reason of a pause': `${reasonOf(pauseOrganization)} characters`,
  'Waking an agent: `message_ids` in a joined event': count(namedMax),
  'Accounts: Agents per key': count(keyAgentsMax),
  'Accounts: Address ranges per key': count(allowedIpsMax),
  'Accounts: Console sessions per key': `${feature('account/sessions/operations.ts', 'sessionsOfKeyMax')}, and the oldest ends`,
  'Accounts: Addresses per identity': count(addressesMax),
  'Accounts: Instructions of an identity': `${count(instructionsCharactersMax)} characters`,
  'Accounts: Mail rules per agent, and for every agent': count(rulesMax),
  'Accounts: Reason of a mail rule, and of a suppression': `${reasonCharactersMax} characters`,
  'Accounts: Domains per organization': count(domainsMax),
  'Accounts: `client_id`': `${clientIdLength} characters of ASCII`,
  'Accounts: Failed sign-ins with a password per account and client address': attempts(byPair('', '')),
  'Accounts: Failed sign-ins per client address': attempts(byAddress('')),
  'Accounts: Failed sign-ins with a password per account, from addresses without a session of it': attempts(byAccount('')),
  'Accounts: Registered OAuth apps': `${count(feature('account/oauth/clients.ts', 'clientsMax'))} per installation, ${attempts(byRegistration(''))} per client address`,
  'Accounts: Redirect URIs per OAuth app': count(feature('account/oauth/client-metadata.ts', 'redirectsMax')),
  'Approval: Longest `expires_at`': `${approvalDaysMax} days`,
  'Approval: Reason of a rejection': `${count(reasonOf(rejectDraft))} characters`,
  'Mail: Message with attachments': bytes(messageBytesMax),
  'Mail: Subject': `${subjectCharactersMax} characters`,
  'Mail: Text of a message, and HTML': `${count((Text as unknown as { maxLength: number }).maxLength)} characters each`,
  'Mail: Attachments per draft': count(draftAttachmentsMax),
  'Mail: Schedule of a draft': `${scheduleDaysMax} days ahead`,
  'Mail: Versions per draft': `${draftVersionsMax}, each at most ${bytes(draftVersionBytesMax)}`,
  'Mail: Custom headers': `${headers.maxProperties}, each at most ${count(Object.values(headers.patternProperties)[0]?.maxLength ?? 0)} characters`,
  'Mail: Messages with one correspondent on one thread before replies wait': `${loopMessagesMax} in 600 seconds`,
  'Mail: Answers to one correspondent elsewhere, on all threads, before they need approval': `${loopMessagesMax} in 600 seconds`,
  'Mail: Text of an attachment': `${count(attachmentTextCharactersMax)} characters, 100,000 by default`,
  'Mail: Text or file that the outbound guard searches': `${count(scannedCharactersMax)} characters`,
  'Mail: Patterns of the outbound guard': `${guardPatternsMax} per identity, each at most ${patternCharactersMax} characters`,
  'Mail: Program size of a pattern of the outbound guard': `${count(constant('mail/src/content/secrets/patterns.ts', 'sizeMax'))} RE2 instructions`,
  'Mail: Flags of the outbound guard per message': count(constant('mail/src/content/secrets/message-search.ts', 'flagsMax')),
  'Mail: Automatic replies to one sender': `1 per ${automaticAnswerPauseMs === day ? 'day' : 'other time'}`,
  'Mail: Link to a shared message': `${shareSecondsMax / 86_400} days`,
  'Mail: Text and HTML of a message in an event': `${bytes(eventBodyBytesMax)} each`,
  'Threads: Labels per message, and per thread': `${metadata.labelsMax}, each at most 100 characters`,
  'Threads: Labels defined per mailbox': count(mailboxLabelsMax),
  'Threads: Participants shown per thread': count(participantsMax),
  'Threads: Messages shown per thread': count(feature('mail/messages/threads.ts', 'threadMessagesMax')),
  'Threads: Threads read by one request for filters without an index, such as `subject`': count(
    feature('mail/stored/lists/thread-list-store.ts', 'scannedMax'),
  ),
  'Threads: Messages searched by one request for `q` in all mailboxes': count(
    searchRounds * feature('mail/stored/search/search-store.ts', 'organizationSearched'),
  ),
  'Threads: Matches compared by one request for `q` in one mailbox': count(
    searchRounds * feature('mail/stored/search/search.ts', 'hitsPerRound'),
  ),
  'Batches: Messages sent by one request': `${sendBatchMax}, ${bytes(sendBatchBytesMax)} of text and HTML, ${bytes(attachmentBodyBytesMax)} together`,
  'Batches: Messages changed by one request': count(messageBatchMax),
  'Batches: Messages read by one request': `${messageBatchMax}, ${bytes(readBatchBytesMax)} of text`,
  'Templates: Templates per organization': count(templatesMax),
  'Templates: Rendered text of a template, and HTML': `${count(feature('mail/templates/model.ts', 'renderedCharactersMax'))} characters each`,
  'Templates: Variables per template': `${templateVariablesMax}, each value at most ${count(templateValueCharactersMax)} characters`,
  'Tags and metadata: Tags per message': `${metadata.tagsMax}, each name once`,
  'Tags and metadata: Name of a tag, and its value': `${metadata.tagCharactersMax} ASCII letters, digits, \`_\` and \`-\``,
  'Tags and metadata: Keys of metadata per object': count(metadata.metadataKeysMax),
  'Tags and metadata: Metadata per object': `${bytes(metadata.metadataBytesMax)} of JSON`,
  'Tags and metadata: Key of metadata': `${metadata.metadataKeyCharactersMax} characters without colons and control characters`,
  'Tags and metadata: Value of metadata': `${count(metadata.metadataValueCharactersMax)} characters, a number without an exponent, or a boolean`,
  'API: JSON body': `1 MB, ${bytes(attachmentBodyBytesMax)} with attachments`,
  'API: Values in a JSON body': `${count(server('edges/api/input/body-check.ts', 'valuesMax'))}, nested at most ${depthMax} levels`,
  'API: JSON bodies in flight': `${bytes(bodies('keyBytesMax'))} per key, ${bytes(bodies('organizationBytesMax'))} per organization, ${bytes(bodies('keylessBytesMax'))} without a key, ${bytes(bodies('allBytesMax'))} per node`,
  'API: Arrival of a body': `${arrivalLimits.totalMs / 1000} seconds, at least ${bytes(arrivalLimits.windowBytesMin)} in ${arrivalLimits.windowMs / 1000} seconds`,
  'API: Body of an MCP request': bytes(server('edges/mcp/pages.ts', 'bodyBytesMax')),
  'API: Path and query of a request': `${count(targetBytesMax)} bytes`,
  'API: Idempotency-Key': `255 characters, kept for ${idempotencyMs / day} days`,
  'API: Wait for a message or code': `${waitSecondsMax} seconds`,
  'API: Open waits': `${count(feature('events/log/waiters.ts', 'waitersOfKeyMax'))} per key, ${count(feature('events/log/waiters.ts', 'waitersMax'))} per node`,
  'API: Events read by one wait before it returns a `cursor`': count(feature('events/log/wait.ts', 'lookedAtMax')),
  'Events and webhooks: Token for a WebSocket of events': `opens sockets for ${socketTokenSeconds} seconds`,
  'Events and webhooks: Open event streams and WebSockets': `${feature('events/log/followers.ts', 'followersOfKeyMax')} per key or member, ${count(feature('events/log/followers.ts', 'followersMax'))} per node`,
  'Events and webhooks: Time until a reader that takes no events is disconnected': `${server('edges/api/live/event-socket.ts', 'stallMsMax') / 1000} seconds`,
  'Events and webhooks: Webhooks per organization': count(feature('events/webhooks/operations.ts', 'webhooksMax')),
  'Events and webhooks: URL of a webhook': `${count(server('edges/outbound-http/outbound-url.ts', 'urlLengthMax'))} characters`,
  'Events and webhooks: Time for the response to a delivery': `${attemptTimeoutMs / 1000} seconds`,
  'Events and webhooks: Time until a failing webhook is disabled': `${failingMsMax / day} days`,
  'Events and webhooks: Test pings per webhook and node': `1 per second, ${server('wiring/events.ts', 'pingBurst')} at once`,
  'Events and webhooks: Events replayed by one request': count(replayEventsMax),
  'Events and webhooks: Events in the log': `${eventsMs / day} days`,
  'Events and webhooks: Deliveries of a webhook': `${retentionMs / day} days`,
  'iMessage and phone: Text of an iMessage': `${count(imessageTextCharactersMax)} characters`,
  'iMessage and phone: File of an iMessage': bytes(imessageMediaBytesMax),
  'Vault: Secrets per vault': `${count(secretsMax)}, ${bytes(vaultPayloadBytesMax)} together`,
  'Vault: Payload of a secret': bytes(payloadBytesMax),
  'Vault: Agents per secret': count(feature('vault/secrets.ts', 'grantsMax')),
  'Vault: Failed unlocks in 15 minutes': count(failuresPerHolderMax),
  'Vault: Failed unlocks of all agents together in 15 minutes': count(failuresPerTypeMax),
  'Vault: Failed unlocks of all organization keys together in 15 minutes': count(failuresPerTypeMax),
  'Mail server and tunnels: SMTP connections per listener': count(smtp('connectionsMax')),
  'Mail server and tunnels: New SMTP connections per client address': `${smtp('connectionsPerMinuteMax')} per minute`,
  'Mail server and tunnels: Recipients per received message': count(smtp('recipientsMax')),
  'Mail server and tunnels: Head of a received message': `${bytes(smtp('headerBytesMax'))}, ${count(smtp('headerLinesMax'))} lines, ${smtp('hopsMax')} \`Received\` fields`,
  'Mail server and tunnels: Arrival of a received message': `${smtp('dataTotalMs') / 60_000} minutes`,
  'Mail server and tunnels: Failed sign-ins to submission per client address': `1 in ${1 / server('wiring/submission.ts', 'failuresPerSecond')} seconds, ${server('wiring/submission.ts', 'failuresBurst')} at once`,
  'Mail server and tunnels: Clients per tunnel and node': count(server('edges/gateway/clients/clients.ts', 'clientsPerTunnelMax')),
  'Mail server and tunnels: Time for a stalled request or response': `${stalledMsMax / 1000} seconds`,
  'Mail server and tunnels: Head of a response': `${bytes(server('edges/gateway/responses/response-reader.ts', 'headBytesMax'))}, ${count(server('edges/gateway/responses/response-reader.ts', 'headersMax'))} fields`,
  'Mail server and tunnels: Recorded requests per tunnel': `${requestsKeptMax} for ${requestsKeptMs / 3_600_000} hours, each body at most ${bytes(capturedBytesMax)}`,
}

test.each(Object.entries(expected))('%s: %s', (limit, number) => {
  expect(numbers.get(limit)).toBe(number)
})

/** Limits of the contract that are not in the table, with the reason. */
const leftOut: Record<string, string> = {
  addressCharactersMax: 'the length of any address (RFC 5321 section 4.5.3.1), in the reference',
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
