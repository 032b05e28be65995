// The same dialogs with Postfix and with Callsign. Replies have the same class, or differ on purpose with a stated reason.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createSmtpServer, type SmtpServer } from '../src/edges/smtp/server/listener.ts'
import { findPostfix, type Postfix, startPostfix } from './harness/postfix.ts'
import { DialogClient } from './transcripts/smtp/play.ts'

const reason = findPostfix()
let postfix: Postfix
let server: SmtpServer
let ourPort: number

beforeAll(async () => {
  if (reason) return
  server = createSmtpServer(
    {
      host: '127.0.0.1',
      port: 0,
      hostname: 'ours.example',
      sizeBytesMax: 10_240_000,
      tls: null,
      log: createLog('silent'),
      limits: { errorDelayMs: 0, connectionsPerAddressMax: 0, connectionsPerMinuteMax: 0 },
    },
    {
      // As in the harness's Postfix, example.com accepts any local part, and every other address is relaying or unknown.
      checkRecipient: async (address) =>
        /@example\.com$/i.test(address) || address.toLowerCase() === 'postmaster'
          ? { kind: 'accepted' }
          : { kind: 'refused', reply: { code: 550, enhanced: '5.1.1', text: 'No such mailbox' } },
      accept: async () => ({ kind: 'stored', id: 'x' }),
    },
  )
  ourPort = (await server.listen()).port
  // Postfix does not trust this machine, as the server does not trust any.
  postfix = await startPostfix('agents.localhost', ourPort, {
    mynetworks: '192.0.2.0/24',
    smtpd_relay_restrictions: 'reject_unauth_destination',
    smtpd_helo_required: 'yes',
  })
})
afterAll(async () => {
  if (reason) return
  await postfix.stop()
  await server.drain(0)
})

/** The steps of a dialog. A step in capitals with `data:` is sent as message data. Each step waits for its reply. */
type Dialog = { name: string; steps: string[] }

const hello = 'EHLO client.example'
const open = [hello, 'MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.com>']
const message = 'data:Subject: x\r\n\r\nbody\r\n.\r\n'

const dialogs: Dialog[] = [
  { name: 'a message', steps: [...open, 'DATA', message, 'QUIT'] },
  { name: 'HELO', steps: ['HELO client.example', 'MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.com>', 'DATA', message, 'QUIT'] },
  { name: 'two messages', steps: [...open, 'DATA', message, 'MAIL FROM:<>', 'RCPT TO:<b@example.com>', 'DATA', message, 'QUIT'] },
  { name: 'lower case', steps: ['ehlo client.example', 'mail from:<a@example.org>', 'rcpt to:<b@example.com>', 'data', message, 'quit'] },
  { name: 'several recipients, one unknown', steps: [...open, 'RCPT TO:<c@nowhere.example>', 'RCPT TO:<c@example.com>', 'DATA', message] },
  { name: 'only unknown recipients', steps: [hello, 'MAIL FROM:<a@example.org>', 'RCPT TO:<c@nowhere.example>', 'DATA'] },
  { name: 'no recipient', steps: [hello, 'MAIL FROM:<a@example.org>', 'DATA'] },
  { name: 'no sender', steps: [hello, 'RCPT TO:<b@example.com>', 'DATA'] },
  { name: 'no greeting', steps: ['MAIL FROM:<a@example.org>'] },
  { name: 'two senders', steps: [hello, 'MAIL FROM:<a@example.org>', 'MAIL FROM:<b@example.org>'] },
  { name: 'RSET starts over', steps: [...open, 'RSET', 'DATA', 'MAIL FROM:<a@example.org>'] },
  { name: 'EHLO starts over', steps: [...open, hello, 'DATA'] },
  { name: 'RSET before everything', steps: ['RSET', 'NOOP', 'QUIT'] },
  { name: 'NOOP with words', steps: [hello, 'NOOP these words'] },
  { name: 'RSET with words', steps: [hello, 'RSET now'] },
  { name: 'DATA with words', steps: [...open, 'DATA now'] },
  { name: 'EHLO without a name', steps: ['EHLO', 'HELO'] },
  { name: 'EHLO with a literal', steps: ['EHLO [192.0.2.1]', 'EHLO [IPv6:2001:db8::1]'] },
  { name: 'unknown commands', steps: [hello, 'FROBNICATE', 'X'] },
  { name: 'an empty line', steps: [hello, ''] },
  { name: 'VRFY of somebody', steps: [hello, 'VRFY <b@example.com>'] },
  { name: 'EXPN', steps: [hello, 'EXPN list'] },
  { name: 'HELP', steps: [hello, 'HELP'] },
  { name: 'AUTH that is not offered', steps: [hello, 'AUTH PLAIN AGEAYg=='] },
  { name: 'STARTTLS that is not offered', steps: [hello, 'STARTTLS'] },
  { name: 'TURN and SEND', steps: [hello, 'TURN', 'SEND FROM:<a@example.org>'] },
  { name: 'paths without brackets', steps: [hello, 'MAIL FROM:a@example.org'] },
  { name: 'a blank after the colon', steps: [hello, 'MAIL FROM: <a@example.org>', 'RCPT TO: <b@example.com>'] },
  {
    name: 'a sender that is no address',
    steps: [hello, 'MAIL FROM:<a@>', 'MAIL FROM:<@example.org>', 'MAIL FROM:<a b@example.org>', 'MAIL FROM:', 'MAIL'],
  },
  { name: 'a sender without a domain', steps: [hello, 'MAIL FROM:<a>'] },
  { name: 'a recipient that is no address', steps: [...open, 'RCPT TO:<>', 'RCPT TO:<@example.com>', 'RCPT TO:', 'RCPT'] },
  { name: 'quoted local parts', steps: [hello, 'MAIL FROM:<"a b"@example.org>', 'RCPT TO:<"b"@example.com>'] },
  { name: 'a source route', steps: [hello, 'MAIL FROM:<@relay.example:a@example.org>', 'RCPT TO:<@relay.example:b@example.com>'] },
  { name: 'bare postmaster', steps: [hello, 'MAIL FROM:<a@example.org>', 'RCPT TO:<postmaster>'] },
  { name: 'SIZE that fits', steps: [hello, 'MAIL FROM:<a@example.org> SIZE=1000'] },
  { name: 'SIZE that does not', steps: [hello, 'MAIL FROM:<a@example.org> SIZE=99999999999'] },
  { name: 'SIZE that is no number', steps: [hello, 'MAIL FROM:<a@example.org> SIZE=x'] },
  { name: 'BODY', steps: [hello, 'MAIL FROM:<a@example.org> BODY=8BITMIME', 'RSET', 'MAIL FROM:<a@example.org> BODY=SOMETHING'] },
  {
    name: 'an unknown parameter',
    steps: [hello, 'MAIL FROM:<a@example.org> FROB=1', 'MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.com> FROB=1'],
  },
  { name: 'parameters after HELO', steps: ['HELO client.example', 'MAIL FROM:<a@example.org> SIZE=1000'] },
  { name: 'SMTPUTF8', steps: [hello, 'MAIL FROM:<a@example.org> SMTPUTF8', 'RCPT TO:<b@example.com>'] },
  {
    name: 'DSN parameters',
    steps: [hello, 'MAIL FROM:<a@example.org> RET=HDRS ENVID=x', 'MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.com> NOTIFY=NEVER'],
  },
  { name: 'a dot line and stuffed dots', steps: [...open, 'DATA', 'data:Subject: x\r\n\r\n..\r\n..a\r\n.\r\n', 'NOOP'] },
  { name: 'an empty message', steps: [...open, 'DATA', 'data:.\r\n'] },
  { name: 'a message without a header', steps: [...open, 'DATA', 'data:just text\r\n.\r\n'] },
  { name: 'eight-bit data', steps: [...open, 'DATA', 'data:Subject: x\r\n\r\n\xe4\xf6\r\n.\r\n'] },
  { name: 'long data lines', steps: [...open, 'DATA', `data:Subject: x\r\n\r\n${'y'.repeat(5_000)}\r\n.\r\n`] },
  { name: 'a command of a thousand characters', steps: [hello, `NOOP ${'x'.repeat(900)}`] },
  {
    name: 'sixty hops',
    steps: [...open, 'DATA', `data:${'Received: from a by b; Sun, 22 Nov 2026 03:00:00 +0000\r\n'.repeat(60)}Subject: x\r\n\r\n.\r\n`],
  },
  { name: 'an empty sender to two recipients', steps: [hello, 'MAIL FROM:<>', 'RCPT TO:<b@example.com>', 'RCPT TO:<c@example.com>'] },
  { name: 'the same recipient twice', steps: [...open, 'RCPT TO:<b@example.com>', 'DATA', message] },
  { name: 'QUIT in the middle', steps: [...open, 'QUIT'] },
]

/**
 * Intended differences by dialog and step (from 0), with both classes and the reason. An unlisted difference fails, and so does a listed one that no
 * longer occurs.
 */
const differences: Record<string, { step: number; ours: string; theirs: string; why: string }[]> = {
  HELP: [{ step: 1, ours: '2xx', theirs: '5xx', why: 'RFC 5321 §4.5.1 wishes for HELP; Postfix has none' }],
  'paths without brackets': [
    { step: 1, ours: '5xx', theirs: '2xx', why: 'no grammar ever allowed it; Postfix refuses it with strict_rfc821_envelopes' },
  ],
  'a sender that is no address': [{ step: 2, ours: '5xx', theirs: '2xx', why: 'nobody could answer <@example.org>' }],
  'a sender without a domain': [{ step: 1, ours: '5xx', theirs: '2xx', why: 'Postfix takes it for its own domain; we do not guess' }],
  'a recipient that is no address': [{ step: 4, ours: '5xx', theirs: '2xx', why: 'an empty local part is no mailbox of ours' }],
  'parameters after HELO': [{ step: 1, ours: '5xx', theirs: '2xx', why: 'who says HELO was offered no extension (RFC 5321 §4.1.1.11)' }],
  'an empty sender to two recipients': [
    { step: 3, ours: '5xx', theirs: '2xx', why: 'a bounce is for one; more are backscatter of a forger' },
  ],
  'DSN parameters': [
    { step: 1, ours: '5xx', theirs: '2xx', why: 'we never send a DSN later, we refuse at once, so DSN is not offered' },
    { step: 2, ours: '2xx', theirs: '5xx', why: 'follows from step 1: to Postfix it is a second MAIL' },
    { step: 3, ours: '5xx', theirs: '2xx', why: 'as step 1' },
  ],
}

const classOf = (reply: string): string => `${reply[0]}xx`

/** The first digit of the reply to each step, or `closed` when the server disconnected. */
async function play(port: number, { steps }: Dialog): Promise<string[]> {
  const client = await DialogClient.greeted(port)
  const classes: string[] = []
  for (const step of steps) {
    client.send(step.startsWith('data:') ? step.slice(5) : `${step}\r\n`)
    const reply = await client.expect('').catch(() => '')
    classes.push(reply === '' ? 'closed' : classOf(reply))
    if (reply === '') break
  }
  client.close()
  return classes
}

describe.skipIf(reason)(reason ? `as Postfix does it (skipped: ${reason})` : 'as Postfix does it', () => {
  test.each(dialogs)('$name', async (dialog) => {
    const [ours, theirs] = await Promise.all([play(ourPort, dialog), play(postfix.port, dialog)])
    const found = ours.flatMap((answer, step) =>
      answer === theirs[step] ? [] : [{ step, ours: answer, theirs: theirs[step] ?? 'closed' }],
    )
    expect(found).toEqual((differences[dialog.name] ?? []).map(({ step, ours, theirs }) => ({ step, ours, theirs })))
  })

  test('every difference belongs to a dialog', () => {
    const names = dialogs.map(({ name }) => name)
    expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([])
  })
})
