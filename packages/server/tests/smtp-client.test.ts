// The sending side of SMTP against real servers: nodemailer's, Postfix's smtp-sink, and scripted ones that misbehave at every step.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import type { Outcome } from '../src/core/outcome.ts'
import { createRelayTransport, type RelaySettings } from '../src/edges/smtp/relay.ts'
import type { Envelope, MailTransport } from '../src/features/outbound-mail/provider.ts'
import { createCertificate } from './stage/certificate.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const message = Buffer.from('Subject: hello\r\n\r\nfirst line\r\n.a dot\r\n..two dots\r\n')
const envelope = (...recipients: string[]): Envelope => ({ from: 'agent@here.test', recipients, smtputf8: false, eightBit: false })

function relayTo(
  port: number,
  more: Partial<Omit<RelaySettings, 'url'>> & { login?: string; query?: string; scheme?: string } = {},
): MailTransport {
  const { login = '', query = '', scheme = 'smtp', ...settings } = more
  const url = `${scheme}://${login}localhost:${port}${query}`
  const relay = createRelayTransport({ url, hostname: 'here.test', log: createLog('silent'), ...settings })
  cleanups.push(() => relay.close())
  return relay
}

/** One conversation as the server sees it. */
type Peer = {
  socket: Socket
  seen: string[]
  line: () => Promise<string>
  say: (...lines: string[]) => void
  data: () => Promise<string>
  gone: Promise<void>
}

function peerOn(socket: Socket): Peer {
  let buffer = ''
  let wake = (): void => undefined
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    buffer += chunk.toString('latin1')
    wake()
  })
  const gone = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve()
      wake()
    })
  })
  const until = async (end: string): Promise<string> => {
    for (;;) {
      const at = buffer.indexOf(end)
      if (at !== -1) {
        const text = buffer.slice(0, at)
        buffer = buffer.slice(at + end.length)
        return text
      }
      if (socket.destroyed) throw new Error('the client left')
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const seen: string[] = []
  const line = async () => {
    const text = await until('\r\n')
    seen.push(text)
    return text
  }
  const say = (...lines: string[]) => {
    socket.write(lines.map((text) => `${text}\r\n`).join(''))
  }
  const data = async () => {
    const lines: string[] = []
    for (let text = await until('\r\n'); text !== '.'; text = await until('\r\n')) lines.push(text)
    return lines.join('\r\n')
  }
  return { socket, seen, line, say, data, gone }
}

/** A server that follows a script, one run a connection (0, 1, …). */
async function scripted(script: (peer: Peer, connection: number) => Promise<void> | void): Promise<{ port: number; peers: Peer[] }> {
  const peers: Peer[] = []
  const server: Server = createServer({ noDelay: true }, (socket) => {
    const peer = peerOn(socket)
    const number = peers.push(peer) - 1
    void Promise.resolve(script(peer, number)).catch(() => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  cleanups.push(() => {
    for (const peer of peers) peer.socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as AddressInfo).port, peers }
}

async function welcome(peer: Peer, ...extensions: string[]): Promise<void> {
  peer.say('220 there.test ESMTP')
  await peer.line()
  const lines = ['there.test', ...extensions]
  peer.say(...lines.map((text, i) => `250${i === lines.length - 1 ? ' ' : '-'}${text}`))
}

/** Answers commands by their verb until the client quits; a DATA answered 354 is followed by the answer named END. */
async function answer(peer: Peer, answers: Record<string, string | ((line: string) => string)>): Promise<void> {
  for (;;) {
    const line = await peer.line()
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'QUIT') {
      peer.say('221 bye')
      peer.socket.end()
      return
    }
    const rule = answers[verb] ?? '250 2.0.0 ok'
    const reply = typeof rule === 'function' ? rule(line) : rule
    peer.say(reply)
    if (verb === 'DATA' && reply.startsWith('354')) {
      peer.seen.push(await peer.data())
      peer.say(answers.END as string)
    }
  }
}

const kinds = (outcomes: Outcome[]): string[] => outcomes.map((outcome) => outcome.kind)

describe('replies', () => {
  const cases: [string, Record<string, string>, Outcome['kind'], string, string | null][] = [
    ['250 to the message', { END: '250 2.0.0 queued as 17' }, 'delivered', '250 2.0.0 queued as 17', null],
    ['a 2xx to RCPT other than 250', { RCPT: '251 will forward', END: '250 ok' }, 'delivered', '250 ok', null],
    ['4xx to MAIL', { MAIL: '451 4.3.0 later' }, 'retry', '451 4.3.0 later', '4.3.0'],
    ['5xx to MAIL', { MAIL: '550 5.7.1 not you' }, 'refused', '550 5.7.1 not you', '5.7.1'],
    ['530 to MAIL, which speaks of us', { MAIL: '530 5.7.0 log in first' }, 'retry', '530 5.7.0 log in first', '5.7.0'],
    ['4xx to RCPT', { RCPT: '450 4.2.1 greylisted' }, 'retry', '450 4.2.1 greylisted', '4.2.1'],
    ['5xx to RCPT', { RCPT: '550 5.1.1 no such user' }, 'refused', '550 5.1.1 no such user', '5.1.1'],
    ['552 to RCPT, the old word for too many recipients', { RCPT: '552 enough' }, 'retry', '552 enough', null],
    ['552 to RCPT with a full mailbox', { RCPT: '552 5.2.2 full' }, 'refused', '552 5.2.2 full', '5.2.2'],
    ['4xx to DATA', { DATA: '451 busy' }, 'retry', '451 busy', null],
    ['5xx to DATA', { DATA: '554 5.5.1 no' }, 'refused', '554 5.5.1 no', '5.5.1'],
    ['4xx to the message', { END: '452 4.3.1 disk full' }, 'retry', '452 4.3.1 disk full', '4.3.1'],
    ['5xx to the message', { END: '554 5.7.1 spam' }, 'refused', '554 5.7.1 spam', '5.7.1'],
    ['an enhanced code of another class', { RCPT: '550 4.1.1 odd' }, 'refused', '550 4.1.1 odd', null],
    ['several lines', { RCPT: '550-5.1.1 no such\r\n550 5.1.1 user' }, 'refused', '550 5.1.1 no such 5.1.1 user', '5.1.1'],
    ['bare line feeds and control characters', { RCPT: '550-5.1.1 a\u001b[31m\n550 b' }, 'refused', '550 5.1.1 a [31m b', '5.1.1'],
  ]
  for (const extensions of [['PIPELINING', 'ENHANCEDSTATUSCODES'], ['ENHANCEDSTATUSCODES']]) {
    test.each(cases)(
      `%s (${extensions.length === 2 ? 'pipelined' : 'one at a time'})`,
      async (_name, answers, kind, text, diagnosticCode) => {
        const server = await scripted(async (peer) => {
          await welcome(peer, ...extensions)
          await answer(peer, { DATA: '354 go on', END: '250 ok', ...answers })
        })
        const [outcome] = await relayTo(server.port).deliver(envelope('a@there.test'), message)
        expect(outcome).toMatchObject({ kind, answer: text })
        expect(outcome && 'diagnosticCode' in outcome ? outcome.diagnosticCode : null).toBe(diagnosticCode)
        if (outcome?.kind === 'delivered') expect(outcome.final).toBe(false)
      },
    )
  }

  test('session trouble is never held against the recipient: 5xx greeting, 4xx EHLO, credentials', async () => {
    const scripts: [string, string, (peer: Peer) => Promise<void> | void][] = [
      ['', '554 5.7.1 you are on a list', (peer) => peer.say('554 5.7.1 you are on a list')],
      ['', '421 4.7.0 too many connections', (peer) => peer.say('421 4.7.0 too many connections')],
      [
        '',
        '451 no',
        async (peer) => {
          peer.say('220 hi')
          await peer.line()
          peer.say('451 no')
        },
      ],
      [
        'user:secret@',
        '535 5.7.8',
        async (peer) => {
          await welcome(peer, 'AUTH PLAIN')
          await peer.line()
          peer.say('535 5.7.8 bad AHVzZXIAc2VjcmV0 secret')
        },
      ],
      ['user:secret@', 'neither AUTH PLAIN nor AUTH LOGIN', (peer) => welcome(peer, 'AUTH CRAM-MD5')],
    ]
    for (const [login, text, script] of scripts) {
      const server = await scripted(script)
      const [outcome] = await relayTo(server.port, { login }).deliver(envelope('a@there.test'), message)
      expect(outcome).toMatchObject({ kind: 'retry', answer: expect.stringContaining(text) })
      expect(JSON.stringify(outcome)).not.toMatch(/secret|AHVz/)
    }
  })

  test('HELO after a refused EHLO', async () => {
    const server = await scripted(async (peer) => {
      peer.say('220 old.test')
      await peer.line()
      peer.say('502 what?')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@there.test'), message))).toEqual(['delivered'])
    expect(server.peers[0]?.seen.slice(0, 3)).toEqual(['EHLO here.test', 'HELO here.test', 'MAIL FROM:<agent@here.test>'])
  })
})

describe('the envelope', () => {
  test('pipelined commands arrive together and in order, and only the taken recipients get the message', async () => {
    let firstChunk = ''
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING', 'SIZE 1000000')
      peer.socket.once('data', (chunk: Buffer) => {
        firstChunk = chunk.toString()
      })
      const rules: Record<string, string> = { a: '250 ok', b: '550 5.1.1 no', c: '451 4.2.0 later', d: '250 ok' }
      await answer(peer, { RCPT: (line) => rules[line[9] as string] as string, DATA: '354 go', END: '250 2.0.0 done' })
    })
    const outcomes = await relayTo(server.port).deliver(envelope('a@x.test', 'b@x.test', 'c@x.test', 'd@x.test', 'not an address'), message)
    expect(kinds(outcomes)).toEqual(['delivered', 'refused', 'retry', 'delivered', 'refused'])
    expect(outcomes[4]).toMatchObject({ failed: true, diagnosticCode: '5.1.3' })
    expect(firstChunk.split('\r\n')).toEqual([
      `MAIL FROM:<agent@here.test> SIZE=${message.length}`,
      'RCPT TO:<a@x.test>',
      'RCPT TO:<b@x.test>',
      'RCPT TO:<c@x.test>',
      'RCPT TO:<d@x.test>',
      'DATA',
      '',
    ])
    expect(server.peers[0]?.seen.at(-1)).toBe('Subject: hello\r\n\r\nfirst line\r\n..a dot\r\n...two dots')
  })

  test('without PIPELINING each command waits for its answer, and DATA is not said when nobody was taken', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer)
      await answer(peer, { RCPT: '550 no' })
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test', 'b@x.test'), message))).toEqual(['refused', 'refused'])
    expect(server.peers[0]?.seen.slice(1)).toEqual(['MAIL FROM:<agent@here.test>', 'RCPT TO:<a@x.test>', 'RCPT TO:<b@x.test>'])
  })

  test('a 354 with every recipient refused is ended with an empty message, and the connection stays good', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      for (const recipient of ['550 5.1.1 no', '250 ok']) {
        let line = await peer.line()
        if (line === 'RSET') {
          peer.say('250 reset')
          line = await peer.line()
        }
        peer.say('250 ok')
        await peer.line()
        peer.say(recipient)
        await peer.line()
        peer.say('354 go')
        for (line = await peer.line(); line !== '.'; line = await peer.line());
        peer.say(recipient === '250 ok' ? '250 taken' : '554 nobody')
      }
    })
    const relay = relayTo(server.port)
    expect(kinds(await relay.deliver(envelope('a@x.test'), message))).toEqual(['refused'])
    expect(kinds(await relay.deliver(envelope('b@x.test'), message))).toEqual(['delivered'])
    expect(server.peers).toHaveLength(1)
    expect(server.peers[0]?.seen.slice(3, 6)).toEqual(['DATA', '.', 'RSET'])
  })

  test('what the server does not offer is refused before anything is said; what it offers is used only when needed', async () => {
    const server = await scripted(async (peer, connection) => {
      await welcome(peer, ...(connection === 0 ? ['SIZE 100'] : ['SIZE 100', '8BITMIME', 'SMTPUTF8']))
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    const plain = relayTo(server.port)
    const eightBit = Buffer.from('Subject: caf\r\n\r\n\u00e9')
    const refusals: [Envelope, Buffer, string][] = [
      [{ ...envelope('a@x.test'), smtputf8: true }, message, '5.6.7'],
      [{ ...envelope('a@x.test'), from: 'j\u00f6rg@x.test' }, message, '5.6.7'],
      [envelope('j\u00f6rg@x.test'), message, '5.6.7'],
      [envelope('a@x.test'), eightBit, '5.6.3'],
      [envelope('a@x.test'), Buffer.from('To: j\u00f6rg@x.test\r\n\r\n'), '5.6.7'],
      [envelope('a@x.test'), Buffer.alloc(101, 'a'), '5.3.4'],
      [{ ...envelope('a@x.test'), from: 'a@x.test>\r\nRSET' }, message, '5.1.7'],
    ]
    for (const [to, raw, diagnosticCode] of refusals) {
      expect(await plain.deliver(to, raw)).toEqual([
        { kind: 'refused', failed: true, diagnosticCode, answer: expect.stringContaining(diagnosticCode) },
      ])
    }
    expect(server.peers[0]?.seen).toEqual(['EHLO here.test'])

    const mixed = await plain.deliver(envelope('j\u00f6rg@x.test', 'plain@b\u00fccher.test'), message)
    expect(kinds(mixed)).toEqual(['refused', 'delivered'])
    expect(server.peers[0]?.seen.slice(1, 3)).toEqual([
      `MAIL FROM:<agent@here.test> SIZE=${message.length}`,
      'RCPT TO:<plain@xn--bcher-kva.test>',
    ])

    const modern = relayTo(server.port)
    await modern.deliver(envelope('a@x.test'), eightBit)
    await modern.deliver({ ...envelope('j\u00f6rg@b\u00fccher.test'), from: '', smtputf8: true }, eightBit)
    const seen = server.peers[1]?.seen as string[]
    expect(seen.filter((line) => /^(MAIL|RCPT)/.test(line))).toEqual([
      'MAIL FROM:<agent@here.test> SIZE=18 BODY=8BITMIME',
      'RCPT TO:<a@x.test>',
      'MAIL FROM:<> SIZE=18 BODY=8BITMIME SMTPUTF8',
      `RCPT TO:<${Buffer.from('j\u00f6rg').toString('latin1')}@xn--bcher-kva.test>`,
    ])
  })

  test('hostile addresses never reach the wire', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    const bad = [
      '',
      'a',
      '@x.test',
      'a@',
      'a b@x.test',
      'a@x.test\r\nDATA',
      'a>@x.test',
      'a@x y.test',
      'a@%41.test',
      'a@\uff11\uff12\uff17.0.0.1',
      `${'a'.repeat(320)}@x.test`,
    ]
    const good = ['"a b"@x.test', 'a+b@x.test', 'a@[192.0.2.1]']
    const outcomes = await relayTo(server.port).deliver(envelope(...bad, ...good), message)
    expect(kinds(outcomes)).toEqual([...bad.map(() => 'refused'), ...good.map(() => 'delivered')])
    expect(server.peers[0]?.seen.filter((line) => line.startsWith('RCPT'))).toEqual(good.map((address) => `RCPT TO:<${address}>`))
  })

  test('a message with a bare CR, a bare LF or a NUL is not sent at all', async () => {
    const server = await scripted((peer) => welcome(peer))
    for (const raw of ['a\nb\r\n', 'a\rb\r\n', '\r\n.\n', 'a\r', 'a\0b\r\n', '\r\r\n']) {
      expect(await relayTo(server.port).deliver(envelope('a@x.test'), Buffer.from(raw))).toMatchObject([
        { kind: 'refused', failed: true, diagnosticCode: '5.6.0' },
      ])
    }
    expect(server.peers).toHaveLength(0)
  })

  test('more than a hundred recipients go in several transactions', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    const outcomes = await relayTo(server.port).deliver(envelope(...Array.from({ length: 230 }, (_, i) => `a${i}@x.test`)), message)
    expect(outcomes).toHaveLength(230)
    expect(new Set(kinds(outcomes))).toEqual(new Set(['delivered']))
    expect(server.peers).toHaveLength(1)
    expect(server.peers[0]?.seen.filter((line) => line.startsWith('MAIL'))).toHaveLength(3)
  })
})

describe('broken connections', () => {
  const drops: [string, (peer: Peer) => Promise<void>, boolean][] = [
    ['before the greeting', async () => undefined, false],
    [
      'after the greeting',
      async (peer) => {
        peer.say('220 hi')
      },
      false,
    ],
    ['after EHLO', async (peer) => welcome(peer, 'PIPELINING'), false],
    [
      'after MAIL',
      async (peer) => {
        await welcome(peer, 'PIPELINING')
        await peer.line()
        peer.say('250 ok')
      },
      false,
    ],
    [
      'after RCPT',
      async (peer) => {
        await welcome(peer, 'PIPELINING')
        await peer.line()
        await peer.line()
        peer.say('250 ok', '250 ok')
      },
      false,
    ],
    [
      'after DATA',
      async (peer) => {
        await welcome(peer)
        await peer.line()
        peer.say('250 ok')
        await peer.line()
        peer.say('250 ok')
        await peer.line()
      },
      false,
    ],
    [
      'after the message',
      async (peer) => {
        await welcome(peer, 'PIPELINING')
        await peer.line()
        peer.say('250 ok', '250 ok', '354 go')
        await peer.data()
      },
      true,
    ],
  ]
  test.each(drops)('dropped %s', async (_name, script, isAmbiguous) => {
    for (const isRude of [false, true]) {
      const server = await scripted(async (peer) => {
        await script(peer)
        if (isRude) peer.socket.resetAndDestroy()
        else peer.socket.end()
      })
      const [outcome] = await relayTo(server.port).deliver(envelope('a@x.test'), message)
      expect(outcome).toMatchObject({ kind: 'retry', diagnosticCode: expect.stringMatching(/^4\.4\.[12]$/) })
      expect(outcome?.answer.includes('may have been accepted')).toBe(isAmbiguous)
    }
  })

  test('nobody listens', async () => {
    const server = await scripted(() => undefined)
    await cleanups.pop()?.()
    expect(await relayTo(server.port).deliver(envelope('a@x.test', 'b@x.test'), message)).toEqual([
      { kind: 'retry', diagnosticCode: '4.4.1', answer: expect.stringContaining('ECONNREFUSED') },
      { kind: 'retry', diagnosticCode: '4.4.1', answer: expect.stringContaining('ECONNREFUSED') },
    ])
  })

  test.each<[string, (peer: Peer) => Promise<void> | void]>([
    ['greeting', () => undefined],
    ['EHLO', (peer) => peer.say('220 hi')],
    ['MAIL', (peer) => welcome(peer, 'PIPELINING')],
    [
      'the message',
      async (peer) => {
        await welcome(peer)
        await peer.line()
        peer.say('250 a')
        await peer.line()
        peer.say('250 b')
        await peer.line()
        peer.say('354 c')
      },
    ],
  ])('a server that never answers: %s', async (what, script) => {
    const server = await scripted(script)
    const relay = relayTo(server.port, { timeouts: { commandMs: 60, dataMs: 60 } })
    const [outcome] = await relay.deliver(envelope('a@x.test'), message)
    expect(outcome).toMatchObject({ kind: 'retry', diagnosticCode: '4.4.2', answer: expect.stringContaining(`did not answer`) })
    expect(outcome?.answer).toContain(what)
    await server.peers[0]?.gone
  })

  test('a server that answers forever, one octet at a time, is stopped by the deadline of the attempt', async () => {
    const server = await scripted((peer) => {
      const timer = setInterval(() => peer.socket.write('2'), 5)
      void peer.gone.then(() => clearInterval(timer))
    })
    const [outcome] = await relayTo(server.port, { limits: { attemptMs: 80 } }).deliver(envelope('a@x.test'), message)
    expect(outcome).toMatchObject({ kind: 'retry', diagnosticCode: '4.4.7' })
    await server.peers[0]?.gone
  })

  test.each<[string, string]>([
    ['an endless line', `220 ${'x'.repeat(1_000_000)}`],
    ['a line of 5 kB', `220 ${'x'.repeat(5000)}\r\n`],
    ['too many lines', `${'220-hi\r\n'.repeat(200)}220 hi\r\n`],
    ['no reply at all', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['lines of different codes', '220-hi\r\n250 hi\r\n'],
    ['two greetings', '220 hi\r\n220 hi\r\n'],
    ['a code out of range', '199 hi\r\n'],
  ])('a hostile greeting: %s', async (_name, text) => {
    const server = await scripted((peer) => {
      peer.socket.write(text)
    })
    const [outcome] = await relayTo(server.port).deliver(envelope('a@x.test'), message)
    expect(outcome).toMatchObject({ kind: 'retry', diagnosticCode: '4.5.0' })
    expect(outcome?.answer.length).toBeLessThan(1200)
    await server.peers[0]?.gone
  })

  test('an answer given before the message ended stops the upload', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await peer.line()
      peer.say('250 ok', '250 ok', '354 go')
      peer.socket.once('data', () => {
        peer.say('552 5.3.4 too big')
        peer.socket.pause()
      })
    })
    const [outcome] = await relayTo(server.port).deliver(envelope('a@x.test'), Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(400_000)))
    expect(outcome).toMatchObject({ kind: 'refused', diagnosticCode: '5.3.4' })
  })

  test('a server that stops reading in the middle of a message', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await peer.line()
      peer.say('250 ok', '250 ok', '354 go')
      peer.socket.pause()
    })
    const relay = relayTo(server.port, { timeouts: { dataBlockMs: 100 } })
    const [outcome] = await relay.deliver(envelope('a@x.test'), Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(400_000)))
    expect(outcome).toMatchObject({ kind: 'retry', diagnosticCode: '4.4.2', answer: expect.stringContaining('took no data') })
    expect(outcome?.answer).not.toContain('may have been accepted')
  })
})

describe('connections', () => {
  test('one connection carries message after message, up to its limit', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    const relay = relayTo(server.port, { limits: { messagesMax: 3 } })
    for (let i = 0; i < 7; i++) expect(kinds(await relay.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.peers.map((peer) => peer.seen.filter((line) => line.startsWith('MAIL')).length)).toEqual([3, 3, 1])
    await server.peers[0]?.gone
    expect(server.peers[0]?.seen.at(-1)).toBe('QUIT')
    expect(server.peers[0]?.seen).not.toContain('RSET')
  })

  test('never more connections than allowed; everything waits its turn and is delivered', async () => {
    let open = 0
    let openMost = 0
    const order: string[] = []
    const server = await scripted(async (peer) => {
      openMost = Math.max(openMost, ++open)
      void peer.gone.then(() => open--)
      await welcome(peer, 'PIPELINING')
      await answer(peer, {
        RCPT: (line) => {
          order.push(line)
          return '250 ok'
        },
        DATA: '354 go',
        END: '250 ok',
      })
    })
    const relay = relayTo(server.port, { limits: { connectionsMax: 2 } })
    const names = Array.from({ length: 40 }, (_, i) => `a${i}@x.test`)
    const outcomes = await Promise.all(names.map((name) => relay.deliver(envelope(name), message)))
    expect(outcomes.flat().every((outcome) => outcome.kind === 'delivered')).toBe(true)
    expect(openMost).toBe(2)
    const places = order.map((line) => Number(/a(\d+)@/.exec(line)?.[1]))
    expect(Math.max(...places.map((place, i) => Math.abs(place - i)))).toBeLessThan(8)
  })

  test.each<[string, (peer: Peer) => Promise<void> | void]>([
    [
      'closes it',
      (peer) => {
        peer.socket.end()
      },
    ],
    [
      'resets it',
      (peer) => {
        peer.socket.resetAndDestroy()
      },
    ],
    [
      'says 421 to MAIL',
      async (peer) => {
        await peer.line()
        peer.say('421 4.4.2 idle for too long')
        peer.socket.end()
      },
    ],
    [
      'drops it at MAIL',
      async (peer) => {
        await peer.line()
        peer.socket.destroy()
      },
    ],
    [
      'says 421 unasked',
      (peer) => {
        peer.say('421 4.4.2 idle for too long')
      },
    ],
  ])('a kept connection that turns out stale is replaced unseen: the server %s', async (_name, goStale) => {
    const server = await scripted(async (peer, connection) => {
      await welcome(peer, 'PIPELINING')
      if (connection > 0) return answer(peer, { DATA: '354 go', END: '250 ok' })
      await peer.line()
      peer.say('250 ok', '250 ok', '354 go')
      await peer.data()
      peer.say('250 ok')
      await goStale(peer)
    })
    const relay = relayTo(server.port)
    expect(kinds(await relay.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(kinds(await relay.deliver(envelope('b@x.test'), message))).toEqual(['delivered'])
    expect(server.peers).toHaveLength(2)
  })

  test('a reused connection that breaks after MAIL was answered is not tried again at once', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await peer.line()
      peer.say('250 ok', '250 ok', '354 go')
      await peer.data()
      peer.say('250 ok')
      while (!(await peer.line()).startsWith('MAIL'));
      peer.say('250 ok')
      peer.socket.end()
    })
    const relay = relayTo(server.port)
    await relay.deliver(envelope('a@x.test'), message)
    expect(kinds(await relay.deliver(envelope('b@x.test'), message))).toEqual(['retry'])
    expect(server.peers).toHaveLength(1)
  })

  test('a fresh connection that breaks before MAIL is not tried again at once', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      peer.socket.end()
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test'), message))).toEqual(['retry'])
    expect(server.peers).toHaveLength(1)
  })

  test('idle connections are ended after their time', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    await relayTo(server.port, { limits: { idleMs: 20 } }).deliver(envelope('a@x.test'), message)
    await server.peers[0]?.gone
    expect(server.peers[0]?.seen.at(-1)).toBe('QUIT')
  })

  test('closing refuses what waits, lets what runs end, and takes nothing more', async () => {
    let arrive = (_peer: Peer): void => undefined
    const arrived = new Promise<Peer>((resolve) => {
      arrive = resolve
    })
    const server = await scripted(async (peer) => {
      await welcome(peer)
      for (const reply of ['250 ok', '250 ok', '354 go']) {
        await peer.line()
        peer.say(reply)
      }
      await peer.data()
      arrive(peer)
    })
    const relay = relayTo(server.port, { limits: { connectionsMax: 1 } })
    const running = relay.deliver(envelope('a@x.test'), message)
    const waiting = relay.deliver(envelope('b@x.test'), message)
    const peer = await arrived
    const closed = relay.close()
    expect(await waiting).toMatchObject([{ kind: 'retry', diagnosticCode: '4.3.2' }])
    expect(await relay.deliver(envelope('c@x.test'), message)).toMatchObject([{ kind: 'retry', diagnosticCode: '4.3.2' }])
    peer.say('250 ok')
    expect(kinds(await running)).toEqual(['delivered'])
    await closed
  })
})

describe('against smtp-server', () => {
  type Taken = { from: string; to: string[]; raw: Buffer; isSecure: boolean; user: string | undefined }

  async function start(
    options: SMTPServerOptions = {},
  ): Promise<{ port: number; taken: Taken[]; connections: () => number; server: SMTPServer }> {
    const taken: Taken[] = []
    let connections = 0
    const server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      logger: false,
      onConnect: (_session, callback) => {
        connections++
        callback()
      },
      onAuth: (auth, _session, callback) =>
        auth.username === 'us er@x' && auth.password === 'p@ss:w\u00f6rd'
          ? callback(null, { user: auth.username })
          : callback(new Error('no')),
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope
          taken.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map((recipient) => recipient.address),
            raw: Buffer.concat(chunks),
            isSecure: session.secure,
            user: session.user as string | undefined,
          })
          callback()
        })
      },
      ...options,
    })
    server.on('error', () => undefined)
    await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve))
    cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
    return { port: (server.server.address() as AddressInfo).port, taken, connections: () => connections, server }
  }

  const authority = createCertificate({ commonName: 'test authority' })
  const certificate = createCertificate({ commonName: 'localhost', dnsNames: ['localhost'], issuer: authority })
  const stranger = createCertificate({ commonName: 'elsewhere', dnsNames: ['elsewhere.test'], issuer: authority })
  const withTls = (by: { cert: string; key: string } = certificate): SMTPServerOptions => ({
    hideSTARTTLS: false,
    cert: by.cert,
    key: by.key,
  })
  const login = `${encodeURIComponent('us er@x')}:${encodeURIComponent('p@ss:w\u00f6rd')}@`

  test('a message arrives octet by octet, dots and all', async () => {
    const server = await start()
    const raw = Buffer.from(`${['.', '..', '.x', '', '...', 'x.', ' .'].join('\r\n')}\r\n`)
    await relayTo(server.port).deliver({ ...envelope('a@x.test', 'b@x.test'), from: 'bounce+1@here.test' }, raw)
    const endless = Buffer.from('no line end')
    await relayTo(server.port).deliver(envelope('a@x.test'), endless)
    expect(server.taken[0]).toMatchObject({ from: 'bounce+1@here.test', to: ['a@x.test', 'b@x.test'] })
    expect(server.taken[0]?.raw.equals(raw)).toBe(true)
    expect(server.taken[1]?.raw.toString()).toBe('no line end\r\n')
  })

  test('STARTTLS: taken when offered, checked when asked, and the connection is reused inside it', async () => {
    const server = await start(withTls())
    const relay = relayTo(server.port)
    for (let i = 0; i < 3; i++) expect(kinds(await relay.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.connections()).toBe(1)
    const strict = relayTo(server.port, { query: '?tls=required', ca: authority.cert })
    expect(kinds(await strict.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    const clear = relayTo(server.port, { query: '?tls=off' })
    expect(kinds(await clear.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.taken.map((one) => one.isSecure)).toEqual([true, true, true, true, false])
  })

  test('required TLS that cannot be had, or whose certificate is wrong, delivers nothing', async () => {
    const refusals: [SMTPServerOptions, string | undefined, string][] = [
      [{}, undefined, '4.7.10'],
      [withTls(), undefined, '4.7.5'],
      [withTls(stranger), authority.cert, '4.7.5'],
    ]
    for (const [options, ca, diagnosticCode] of refusals) {
      const server = await start(options)
      const relay = relayTo(server.port, { query: '?tls=required', ...(ca ? { ca } : {}) })
      expect(await relay.deliver(envelope('a@x.test'), message)).toMatchObject([{ kind: 'retry', diagnosticCode }])
      const trusting = relayTo(server.port, { query: '?tls=required&verify=false' })
      expect(kinds(await trusting.deliver(envelope('a@x.test'), message))).toEqual([options.cert ? 'delivered' : 'retry'])
    }
  })

  test('TLS from the first octet', async () => {
    const server = await start({ ...withTls(), secure: true })
    expect(kinds(await relayTo(server.port, { scheme: 'smtps', ca: authority.cert }).deliver(envelope('a@x.test'), message))).toEqual([
      'delivered',
    ])
    expect(await relayTo(server.port, { scheme: 'smtps' }).deliver(envelope('a@x.test'), message)).toMatchObject([{ kind: 'retry' }])
    expect(server.taken).toMatchObject([{ isSecure: true }])
  })

  test.each(['PLAIN', 'LOGIN'])('credentials by AUTH %s', async (mechanism) => {
    const server = await start({ ...withTls(), authOptional: false, authMethods: [mechanism as 'PLAIN'] })
    expect(kinds(await relayTo(server.port, { login }).deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.taken).toMatchObject([{ user: 'us er@x', isSecure: true }])
    const [wrong] = await relayTo(server.port, { login: 'who:what@' }).deliver(envelope('a@x.test'), message)
    expect(wrong).toMatchObject({ kind: 'retry', diagnosticCode: '4.7.8', answer: expect.stringContaining('535') })
    const [none] = await relayTo(server.port).deliver(envelope('a@x.test'), message)
    expect(none).toMatchObject({ kind: 'retry', answer: expect.stringContaining('530') })
  })

  test('clear text smuggled in after the answer to STARTTLS is not believed', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'STARTTLS')
      await peer.line()
      peer.say('220 go', '250 you are my friend')
    })
    const [outcome] = await relayTo(server.port, { query: '?tls=required' }).deliver(envelope('a@x.test'), message)
    expect(outcome).toMatchObject({ kind: 'retry' })
    await server.peers[0]?.gone
  })

  test('opportunistic TLS falls back to clear text when the handshake fails, required TLS never', async () => {
    const server = await scripted(async (peer, connection) => {
      await welcome(peer, 'STARTTLS')
      if (connection === 1) return answer(peer, { DATA: '354 go', END: '250 ok' })
      await peer.line()
      peer.say('220 go')
      peer.socket.once('data', () => peer.socket.write('this is no TLS\r\n'))
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(await relayTo(server.port, { query: '?tls=required' }).deliver(envelope('a@x.test'), message)).toMatchObject([
      { kind: 'retry', diagnosticCode: '4.7.5' },
    ])
    expect(server.peers[1]?.seen).not.toContain('STARTTLS')
  })
})

describe('the address of the relay', () => {
  test.each([
    '',
    'localhost:25',
    'http://localhost',
    'smtp://',
    'smtp://x/path',
    'smtp://x?tls=maybe',
    'smtps://x?tls=off',
    'smtp://x?verify=no',
  ])('%j is refused in words', (url) => {
    expect(() => createRelayTransport({ url, hostname: 'here.test', log: createLog('silent') })).toThrow(/the relay/)
  })
})

const sink = '/usr/sbin/smtp-sink'
describe.skipIf(!existsSync(sink))('against smtp-sink (skipped where Postfix is not installed)', () => {
  test.each([1024, 10_240])('throughput with messages of %i octets', async (sizeBytes) => {
    const port = await freePort()
    // Not as root when the machine lets us choose: smtp-sink refuses to run as root without a user to change to.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const child = spawn(sink, [...user, `127.0.0.1:${port}`, '100'], { stdio: 'ignore' })
    cleanups.push(() => child.kill('SIGKILL'))
    await listening(port)
    const relay = createRelayTransport({ url: `smtp://127.0.0.1:${port}`, hostname: 'here.test', log: createLog('silent') })
    cleanups.push(() => relay.close())
    const raw = Buffer.from(`Subject: load\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(Math.floor((sizeBytes - 17) / 72))}`)
    const run = async (count: number) => {
      let left = count
      let delivered = 0
      const worker = async () => {
        while (left-- > 0) if ((await relay.deliver(envelope('sink@x.test'), raw))[0]?.kind === 'delivered') delivered++
      }
      await Promise.all(Array.from({ length: 10 }, worker))
      return delivered
    }
    await run(500)
    const count = 3000
    const cpu = process.cpuUsage()
    const start = process.hrtime.bigint()
    expect(await run(count)).toBe(count)
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    const used = process.cpuUsage(cpu)
    console.log(
      `smtp-sink, ${sizeBytes} octets: ${Math.round(count / seconds)} msg/s, ${Math.round((used.user + used.system) / count)} µs CPU a message`,
    )
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Resolves when something answers on the port; a refused connection is tried again at once. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', () => resolve(false))
      socket.once('data', () => {
        socket.end('QUIT\r\n')
        resolve(true)
      })
    })
    if (isUp) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}
