// The SMTP client's commands and its handling of replies, against scripted servers.
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../src/core/outcome.ts'
import type { Envelope } from '../src/features/mail/outbound/provider.ts'
import { answer, envelope, kinds, message, type Peer, relayTo, scripted, welcome } from './harness/scripted-smtp.ts'

describe('replies', () => {
  const cases: [string, Record<string, string>, Outcome['kind'], string, string | null][] = [
    ['250 to the message', { END: '250 2.0.0 queued as 17' }, 'delivered', '250 2.0.0 queued as 17', null],
    ['a 2xx to RCPT other than 250', { RCPT: '251 will forward', END: '250 ok' }, 'delivered', '250 ok', null],
    ['4xx to MAIL', { MAIL: '451 4.3.0 later' }, 'retry', '451 4.3.0 later (in reply to MAIL FROM)', '4.3.0'],
    ['5xx to MAIL', { MAIL: '550 5.7.1 not you' }, 'refused', '550 5.7.1 not you (in reply to MAIL FROM)', '5.7.1'],
    [
      '530 to MAIL, which speaks of us',
      { MAIL: '530 5.7.0 log in first' },
      'retry',
      '530 5.7.0 log in first (in reply to MAIL FROM)',
      '5.7.0',
    ],
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

  test('a session failure never counts against the recipient, for a 5xx greeting, 4xx EHLO or refused credentials', async () => {
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

test.each([64, 600_000])(
  'a message of %d octets that may not end is broken off, and the next one uses a new connection',
  async (octets) => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go on', END: '250 ok' })
    })
    const relay = relayTo(server.port)
    const large = Buffer.from(`Subject: large\r\n\r\n${'a line of text\r\n'.repeat(octets / 16)}`)
    expect(await relay.deliver({ ...envelope('a@x.test'), mayEnd: () => false }, large)).toMatchObject([
      { kind: 'retry', diagnosticCode: '4.3.2', answer: expect.stringContaining('another worker') },
    ])
    expect(kinds(await relay.deliver({ ...envelope('b@x.test'), mayEnd: () => true }, large))).toEqual(['delivered'])
    await server.peers[0]?.gone
    expect(server.peers.map(({ seen }) => seen.filter((text) => text.startsWith('Subject')).length)).toEqual([0, 1])
  },
)

describe('the envelope', () => {
  test('pipelined commands arrive together and in order, and only accepted recipients get the message', async () => {
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

  test('without PIPELINING each command waits for its reply, and DATA is not sent without an accepted recipient', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer)
      await answer(peer, { RCPT: '550 no' })
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test', 'b@x.test'), message))).toEqual(['refused', 'refused'])
    expect(server.peers[0]?.seen.slice(1)).toEqual(['MAIL FROM:<agent@here.test>', 'RCPT TO:<a@x.test>', 'RCPT TO:<b@x.test>'])
  })

  test('a 354 without accepted recipients is ended with an empty message, and the connection is reused', async () => {
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

  test('a missing extension is an error before the transaction, and an offered one is used only when needed', async () => {
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
      expect(await plain.deliver(to, raw)).toMatchObject([
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

  test('a message with a bare CR, a bare LF or a NUL is not sent', async () => {
    const server = await scripted((peer) => welcome(peer))
    for (const raw of ['a\nb\r\n', 'a\rb\r\n', '\r\n.\n', 'a\r', 'a\0b\r\n', '\r\r\n']) {
      expect(await relayTo(server.port).deliver(envelope('a@x.test'), Buffer.from(raw))).toMatchObject([
        { kind: 'refused', failed: true, diagnosticCode: '5.6.0' },
      ])
    }
    expect(server.peers).toHaveLength(0)
  })

  test('more than a hundred recipients use several transactions', async () => {
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
