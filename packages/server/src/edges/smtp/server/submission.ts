// Receiver of submitted mail: sends each message through the API with the key that its client signed in with.
import { createHash } from 'node:crypto'
import { findValue, readHeaderBlock } from '@callsign/mail/mime/headers'
import { readMessageId } from '@callsign/mail/mime/message-ids'
import { ApiError } from '../../../core/errors.ts'
import type { Account, Envelope, MessageVerdict, SignIn, SmtpReceiver } from './receiver.ts'
import { replies, type SmtpReply } from './reply.ts'

/** The client of a submission, as the API sees it. */
export type Submitter = Account & { address: string }

/** The operations that submission needs. */
export interface SubmissionApi {
  /** False for a key that is unknown, may not send, or has no such agent. */
  isAllowed(submitter: Submitter): Promise<boolean>
  /** Authenticates the submitter of a message, and reads it. Rejects with ApiError. */
  open(submitter: Submitter, mail: SubmittedMail): Promise<MessageApi>
}

/** A submitted message and the recipients of its envelope. */
export type SubmittedMail = { raw: Buffer; recipients: string[] }

/** The operations of one message. Each rejects with ApiError. */
export interface MessageApi {
  /** Sends once per key. Resolves with the id of the message. */
  send(idempotencyKey: string | null): Promise<string>
  /** Stores a draft once per key and requests its approval. Resolves with the id of the draft. */
  requestApproval(idempotencyKey: string | null): Promise<string>
}

type SignInOutcome = 'ok' | 'wrong' | 'throttled'

/** Checks credentials: an address or the handle of an agent, and an API key. `isThrottled` counts a failure of an address. `onTried` sees every result. */
export const createSignIn =
  (api: SubmissionApi, isThrottled: (clientAddress: string) => boolean, onTried: (outcome: SignInOutcome) => void): SignIn =>
  async ({ username, password }, clientAddress) => {
    const account = { username, key: password }
    if (/^[\x21-\x7e]{1,300}$/.test(password) && (await api.isAllowed({ ...account, address: clientAddress }))) {
      onTried('ok')
      return account
    }
    const throttled = isThrottled(clientAddress)
    onTried(throttled ? 'throttled' : 'wrong')
    return throttled ? replies.tooManyLogins : replies.loginFailed
  }

/** Every recipient is accepted, because rules and limits look at the whole message. `onStored` gets the id of each message or draft. */
export const createSubmissionReceiver = (api: SubmissionApi, onStored: (id: string) => void): SmtpReceiver => ({
  checkRecipient: async (address) =>
    address.includes('@')
      ? { kind: 'accepted' }
      : { kind: 'refused', reply: { code: 550, enhanced: '5.1.3', text: 'An address needs a domain' } },

  async accept(envelope: Envelope, raw: Buffer): Promise<MessageVerdict> {
    const submitter = { ...(envelope.account as Account), address: envelope.clientAddress }
    const key = idempotencyKeyOf(raw, envelope)
    try {
      const id = await sendOrHold(await api.open(submitter, { raw, recipients: envelope.recipients }), key)
      onStored(id)
      return { kind: 'stored', id }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { kind: 'refused', reply: toReply(error) }
    }
  },
})

/** Sends a message, or requests its approval where the agent needs it or the server has reasons to hold it. */
async function sendOrHold(api: MessageApi, key: string | null): Promise<string> {
  try {
    return await api.send(key)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'approval_required') throw error
    return api.requestApproval(key)
  }
}

/** A client that lost the reply sends the same message to the same recipients again. Null without a Message-ID. */
function idempotencyKeyOf(raw: Buffer, { account, recipients }: Envelope): string | null {
  const messageId = readMessageId(findValue(readHeaderBlock(raw, 0, null, (key) => key === 'message-id').fields, 'message-id'))
  if (messageId === null) return null
  const text = JSON.stringify([account?.username, messageId, [...recipients].sort()])
  return `smtp-${createHash('sha256').update(text).digest('base64url')}`
}

/** The reply to an error of the API. Its message says what to change. */
function toReply({ status, code, message, details = [] }: ApiError): SmtpReply {
  const field = code === 'validation_error' ? details[0]?.path.split('/')[1] : undefined
  const text = `${field ? `${field}: ` : ''}${message}`.replace(/\s+/g, ' ')
  if (status === 401) return { code: 550, enhanced: '5.7.0', text }
  if (code === 'storage_quota_exceeded') return { code: 452, enhanced: '4.2.2', text }
  if (status === 413) return { code: 552, enhanced: '5.3.4', text }
  if (status === 429) return { code: 451, enhanced: '4.7.1', text }
  if (status >= 500 || code === 'idempotency_in_progress') return { code: 451, enhanced: '4.3.0', text }
  return { code: 550, enhanced: status === 403 ? '5.7.1' : '5.6.0', text }
}
