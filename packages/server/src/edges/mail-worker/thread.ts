// The thread that reads and checks large messages. It has no sockets. Its DNS questions go to the main thread, which has the one resolver.
import { hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { checkSender } from '@callsign/mail/authentication/sender-checks'
import { readMail } from '@callsign/mail/content/reading'
import { readSubmission, type Submission } from '@callsign/mail/content/submission'
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import { nowMs } from '../../core/clock.ts'
import type { DnsQuestion, FromThread, MailResult, MailTask, ToThread } from './protocol.ts'

const port = parentPort
if (!port) throw new Error('this file is a worker thread')

const open = new Map<number, (answer: DnsAnswer<unknown>) => void>()
let questions = 0

const say = (message: FromThread<MailResult, DnsQuestion>): void => port.postMessage(message)

function ask<T>(type: DnsQuestion['type'], name: string): Promise<DnsAnswer<T>> {
  const id = ++questions
  say({ what: 'question', id, question: { type, name } })
  return new Promise((resolve) => open.set(id, resolve as (answer: DnsAnswer<unknown>) => void))
}

const resolver: Resolver = {
  txt: (name) => ask('txt', name),
  mx: (name) => ask('mx', name),
  a: (name) => ask('a', name),
  aaaa: (name) => ask('aaaa', name),
  cname: (name) => ask('cname', name),
  ptr: (name) => ask('ptr', name),
}

async function perform(task: MailTask): Promise<MailResult> {
  const raw = Buffer.from(task.bytes)
  if (task.kind === 'read') return readMail(raw)
  if (task.kind === 'submission') return sentBack(readSubmission(raw, task.recipients))
  const sha256 = hash('sha256', raw, 'buffer')
  if (task.kind === 'digest') return { sha256 }
  const { envelopeFrom, client, hostname } = task
  return { verdicts: await checkSender({ envelopeFrom, client, raw }, { resolver, hostname, nowMs }), sha256 }
}

/** Without the body of the content, which the main thread has. */
const sentBack = (submission: Submission): Submission => ({
  ...submission,
  content: submission.content && { ...submission.content, body: Buffer.alloc(0) },
})

port.on('message', (message: ToThread<MailTask>) => {
  if (message.what === 'end') {
    port.close()
    return
  }
  if (message.what === 'answer') {
    open.get(message.id)?.(message.answer as DnsAnswer<unknown>)
    open.delete(message.id)
    return
  }
  perform(message.task).then(
    (result) => say({ what: 'done', id: message.id, result }),
    (error: unknown) =>
      say({ what: 'failed', id: message.id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
