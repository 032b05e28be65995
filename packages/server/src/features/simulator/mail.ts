// Mail from a simulated mail server. It arrives as mail over SMTP does: checked, judged by the mail rules and filed.
import { messageBytesMax } from '@callsign/contract/attachments'
import type { ReplyOf } from '@callsign/contract/operation'
import type { simulateMail } from '@callsign/contract/simulator'
import { composeMessage } from '@callsign/mail/compose/compose'
import type { Static } from 'typebox'
import type { Caller } from '../../core/caller.ts'
import { now } from '../../core/clock.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Identities } from '../account/identities/operations.ts'
import { checkFilename, checkTotal, contentTypeOf, decodeBase64 } from '../mail/attachments/model.ts'
import type { Messages } from '../mail/messages/operations.ts'
import { readAddress } from '../mail/outbound/model.ts'
import { type MailSample, mailSamples } from './mail-samples.ts'

type Body = Static<NonNullable<typeof simulateMail.body>>

/** Delivers raw mail to a mailbox, and resolves with the reply of the mail server. `from` is the return path. */
export type SimulatedDelivery = (
  from: string,
  recipient: string,
  raw: Buffer,
) => Promise<{ kind: 'stored'; id: string } | { kind: 'refused'; reply: { code: number; enhanced: string; text: string } }>

export interface SimulatedMail {
  /** `POST /simulator/mail`. */
  simulateMail(caller: Caller, body: Body): Promise<ReplyOf<typeof simulateMail>>
}

type Parts = { identities: Identities; messages: Messages; deliver: SimulatedDelivery }

const defaultSender = 'Ada Park <ada@people.example>'

/** The tag of an address, such as `+news` in `sales+news@example.com`. */
const tag = /\+[^@\s]*(?=@)/

export function createSimulatedMail({ identities, messages, deliver }: Parts): SimulatedMail {
  return {
    async simulateMail(caller, body) {
      const owner = await identities.requireMailbox(caller, body.to.replace(tag, ''))
      const recipient = tag.test(body.to) ? (readAddress(body.to)?.address ?? owner.address) : owner.address
      const { from, raw } = await write(readMail(body, recipient), recipient)
      checkTotal(raw.length, messageBytesMax)
      const reply = await deliver(from, recipient, raw)
      if (reply.kind === 'refused') {
        const { code, enhanced, text } = reply.reply
        throw new ApiError('conflict', `The mail server refused the message: ${code} ${enhanced} ${text}.`)
      }
      const { id, status } = await messages.requireMessage(caller, owner.address, reply.id)
      return { agent_handle: owner.handle, message_id: id, status: status === 'quarantined' ? status : 'received' }
    },
  }
}

function readMail({ to: _, sample, ...fields }: Body, recipient: string): MailSample {
  if (sample) {
    const [given] = Object.keys(fields)
    if (given) throw invalid(`/${given}`, `${given} cannot be combined with sample: remove one of them`)
    return mailSamples[sample](recipient)
  }
  const { from = defaultSender, subject = '', text, html } = fields
  const attachments = (fields.attachments ?? []).map((file, index) => ({
    filename: checkFilename(file, `/attachments/${index}`),
    contentType: contentTypeOf(file, `/attachments/${index}`),
    bytes: decodeBase64(file.content, `/attachments/${index}`),
  }))
  return { from, subject, ...(text !== undefined && { text }), ...(html !== undefined && { html }), attachments }
}

/** The return path and the bytes. */
async function write(mail: MailSample, recipient: string): Promise<{ from: string; raw: Buffer }> {
  const { from, replyTo, returnPath, body, ...parts } = mail
  const sender = readAddress(from)
  if (!sender) throw invalid('/from', 'from must be an email address: write user@example.com or Name <user@example.com>')
  const messageId = `<${newId('simulated')}@simulator.localhost>`
  const date = now()
  const raw = body
    ? Buffer.from(
        `From: ${from}\r\nTo: ${recipient}\r\nSubject: ${mail.subject}\r\nMessage-ID: ${messageId}\r\nDate: ${date.toUTCString()}\r\nMIME-Version: 1.0\r\n${body}`,
      )
    : await composeMessage({
        ...parts,
        from: sender,
        to: [{ address: recipient }],
        ...(replyTo && { replyTo: [{ address: replyTo }] }),
        messageId,
        date,
      })
  return { from: returnPath ?? sender.address, raw }
}
