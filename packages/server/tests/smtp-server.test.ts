// The SMTP server over real sockets. Covers dialogs, accepted messages, line ends, TLS and random input.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inData, open, openData, yieldToServer } from './transcripts/smtp/listening-server.ts'
import { DialogClient, playTranscript, readLimits } from './transcripts/smtp/play.ts'

describe('transcripts', () => {
  const folder = new URL('./transcripts/smtp/', import.meta.url)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.txt'))) {
    test(file.replace('.txt', ''), async () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8')
      const { port, receiver } = await open(readLimits(transcript), { sizeBytesMax: 20_000 })
      const client = await DialogClient.connect(port)
      await playTranscript(transcript, client, () => receiver.accepted.length)
      client.close()
    })
  }
})

describe('accepted messages', () => {
  test('a message has its raw octets, envelope and Received field', async () => {
    const { port, receiver } = await open()
    const client = await DialogClient.greeted(port)
    await client.ask('EHLO evil_name.example', '250')
    await client.ask('MAIL FROM:<"a"@example.org> SIZE=123 BODY=8BITMIME', '250')
    await client.ask('RCPT TO:<bob@example.com>', '250')
    await client.ask('RCPT TO:<unknown@example.com>', '550')
    await client.ask('DATA', '354')
    client.send(Buffer.from('..dots: 1\r\n\r\n..\r\n...\r\n \xe9\x01\r\nMAIL FROM:<x@y>\r\n.\r\n', 'latin1'))
    await client.expect('250 2.0.0 queued as m1')
    const { envelope, raw, received } = receiver.accepted[0]!
    expect(raw.toString('latin1')).toBe('.dots: 1\r\n\r\n.\r\n..\r\n \xe9\x01\r\nMAIL FROM:<x@y>\r\n')
    expect(envelope).toEqual({
      id: envelope.id,
      from: 'a@example.org',
      recipients: ['bob@example.com'],
      clientAddress: '127.0.0.1',
      clientName: 'evil_name.example',
      esmtp: true,
      tls: null,
      smtputf8: false,
      account: null,
      bodyType: '8bitmime',
      declaredSize: 123,
    })
    expect(envelope.id).toMatch(/^req_[0-9a-z]{26}\.1$/)
    expect(received).toMatch(
      /^Received: from evil_name\.example \(\[127\.0\.0\.1\]\)\r\n\tby mx\.callsign\.test with ESMTP id req_\w+\.1\r\n\tfor <bob@example\.com>;\r\n\t\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000\r\n$/,
    )
    client.close()
  })

  test('the Received field has the protocol, and the recipient only if there is one', async () => {
    const { port, receiver } = await open()
    const client = await DialogClient.greeted(port)
    await client.ask('HELO c', '250')
    await openData(client)
    await client.ask('.', '250')
    await client.ask('EHLO c', '250')
    await client.ask('MAIL FROM:<é@example.org> SMTPUTF8'.replace('é', Buffer.from('é').toString('latin1')), '250')
    await client.ask('RCPT TO:<one@example.com>', '250')
    await client.ask('RCPT TO:<two@example.com>', '250')
    await client.ask('DATA', '354')
    await client.ask('.', '250')
    expect(receiver.accepted.map(({ received }) => / with (\w+) /.exec(received)?.[1])).toEqual(['SMTP', 'UTF8SMTP'])
    expect(receiver.accepted[1]!.envelope.from).toBe('é@example.org')
    expect(receiver.accepted[1]!.received).not.toContain('for <')
    client.close()
  })

  test('no message is accepted without its end', async () => {
    const { server, port, receiver } = await open()
    const client = await inData(port)
    client.send('Subject: half\r\n\r\nbody\r\n')
    client.socket.end()
    await client.rest()
    expect(receiver.accepted).toEqual([])
    await server.drain(0)
    expect(server.connections()).toBe(0)
  })

  test('replies to a pipelined group come in one segment', async () => {
    const { port } = await open()
    const client = await DialogClient.greeted(port)
    await client.ask('EHLO client.example', '250')
    const chunks: string[] = []
    client.socket.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
    client.send('MAIL FROM:<a@example.org>\r\nRCPT TO:<unknown@example.com>\r\nRCPT TO:<b@example.com>\r\nNOOP\r\nDATA\r\n')
    await client.expect('250 2.1.0')
    expect(chunks.map((chunk) => chunk.match(/^\d{3}/gm))).toEqual([['250', '550', '250', '250', '354']])
    client.close()
  })
})

describe('line ends', () => {
  const endings: Record<string, string> = {
    'LF . LF': '\n.\n',
    'CR . CR': '\r.\r',
    'CR . LF': '\r.\n',
    'LF . CR': '\n.\r',
    'LF . CRLF': '\n.\r\n',
    'CRLF . LF': '\r\n.\n',
    'CR . CRLF': '\r.\r\n',
    'CRLF . CR': '\r\n.\r',
    'CRLF NUL . CRLF': '\r\n\0.\r\n',
    'CRLF . NUL CRLF': '\r\n.\0\r\n',
    'CRLF . CR CRLF': '\r\n.\r\r\n',
    'bare LF in the body': 'a\nb',
    'bare CR in the body': 'a\rb',
    'NUL in the body': 'a\0b',
  }
  const refusals = ['521 5.5.2 bare CR or LF not allowed\r\n', '521 5.5.2 NUL not allowed\r\n']

  for (const [name, ending] of Object.entries(endings)) {
    test(`${name} is refused and closes, in any chunks`, async () => {
      const { port, receiver } = await open({ connectionsPerAddressMax: 0, connectionsPerMinuteMax: 0 })
      const payload = Buffer.from(
        `S: a\r\n\r\nb${ending}MAIL FROM:<e@x.org>\r\nRCPT TO:<v@x.org>\r\nDATA\r\n\r\nsmuggled\r\n.\r\n`,
        'latin1',
      )
      const expected = refusals[ending.includes('\0') ? 1 : 0]
      const whole = await inData(port)
      whole.send(payload)
      expect(await whole.rest()).toBe(expected)

      const byByte = await inData(port)
      for (const byte of payload) {
        byByte.send(Buffer.of(byte))
        await yieldToServer()
      }
      expect(await byByte.rest()).toBe(expected)

      for (let cut = 1; cut < 9 + ending.length + 12; cut++) {
        const split = await inData(port)
        split.send(payload.subarray(0, cut))
        await yieldToServer()
        split.send(payload.subarray(cut))
        expect(await split.rest(), `cut at ${cut}`).toBe(expected)
      }
      expect(receiver.accepted).toEqual([])
    })
  }

  for (const [name, bytes] of Object.entries({
    LF: 'NOOP\nNOOP\r\n',
    CR: 'NOOP\rNOOP\r\n',
    'CR CRLF': 'NOOP\r\r\nNOOP\r\n',
    NUL: 'NO\0OP\r\nNOOP\r\n',
  })) {
    test(`a command with ${name} is refused and closes, in any chunks`, async () => {
      const { port } = await open({ connectionsPerAddressMax: 0, connectionsPerMinuteMax: 0 })
      const expected = `250 2.0.0 Ok\r\n${refusals[name === 'NUL' ? 1 : 0]}`
      const payload = `NOOP\r\n${bytes}`
      for (let cut = 1; cut < payload.length; cut++) {
        const client = await DialogClient.greeted(port)
        client.send(payload.slice(0, cut))
        await yieldToServer()
        client.send(payload.slice(cut))
        expect(await client.rest(), `cut at ${cut}`).toBe(expected)
      }
    })
  }
})

describe('TLS', () => {
  test('STARTTLS resets the session and is named in envelope and Received field', async () => {
    const { port, receiver } = await open()
    const client = await DialogClient.greeted(port)
    expect(await client.ask('EHLO client.example', '250')).toContain('STARTTLS')
    await client.ask('MAIL FROM:<plain@example.org>', '250')
    await client.ask('STARTTLS now', '501 5.5.4')
    await client.ask('STARTTLS', '220 2.0.0')
    await client.secure()
    await client.ask('MAIL FROM:<a@example.org>', '503 5.5.1')
    expect(await client.ask('EHLO client.example', '250')).not.toContain('STARTTLS')
    await client.ask('STARTTLS', '503 5.5.1')
    await openData(client)
    client.send('Subject: secret\r\n\r\n.\r\n')
    await client.expect('250 2.0.0')
    const { envelope, received } = receiver.accepted[0]!
    expect(envelope.tls).toEqual({ version: 'TLSv1.3', cipher: expect.stringMatching(/^TLS_[A-Z0-9_]+$/) })
    expect(received).toMatch(/ with ESMTPS id \S+\r\n\ttls TLS_[A-Z0-9_]+ \(TLSv1\.3\)\r\n/)
    await client.ask('QUIT', '221')
    expect(await client.rest()).toBe('')
  })

  test('plain text instead of the handshake ends the connection and is never a command', async () => {
    const { server, port } = await open()
    const client = await DialogClient.greeted(port)
    await client.ask('EHLO client.example', '250')
    await client.ask('STARTTLS', '220')
    client.send('NOOP\r\nMAIL FROM:<evil@example.org>\r\n')
    expect(await client.rest()).not.toMatch(/^\d{3} /m)
    await server.drain(0)
  })

  test('without a certificate STARTTLS is neither offered nor accepted', async () => {
    const { port } = await open({}, { tls: null })
    const client = await DialogClient.greeted(port)
    expect(await client.ask('EHLO client.example', '250')).not.toContain('STARTTLS')
    await client.ask('STARTTLS', '502 5.5.1')
    client.close()
  })

  test('a large message through TLS arrives whole', async () => {
    const { port, receiver } = await open()
    const client = await DialogClient.greeted(port)
    await client.ask('EHLO client.example', '250')
    await client.ask('STARTTLS', '220')
    await client.secure()
    await client.ask('EHLO client.example', '250')
    await openData(client)
    const message = `Subject: big\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(50_000)}`
    client.send(`${message}.\r\n`)
    await client.expect('250')
    expect(receiver.accepted[0]!.raw.equals(Buffer.from(message))).toBe(true)
    client.close()
  })
})

test('random octets and partly valid dialogs never harm the server', async () => {
  const { server, port } = await open(
    { connectionsPerAddressMax: 0, connectionsPerMinuteMax: 0, headerBytesMax: 2_000, discardBytesMax: 500 },
    { sizeBytesMax: 5_000 },
  )
  const words =
    'EHLO x\r\n|HELO y\r\n|MAIL FROM:<a@b.c>\r\n|MAIL FROM:<> SIZE=9\r\n|RCPT TO:<d@e.f>\r\n|RCPT TO:<broken@e.f>\r\n|DATA\r\n|.\r\n|..\r\n|\r\n|\r|\n|RSET\r\n|NOOP|STARTTLS\r\n|QUIT\r\n|<|>|"|\\| |Received: x\r\n|GET /|VRFY'.split(
      '|',
    )
  let state = 20_261_120
  /** mulberry32 with a fixed seed, so that a failure can be repeated. */
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  for (let round = 0; round < 250; round++) {
    const client = await DialogClient.greeted(port)
    if (below(2) === 0) client.send('EHLO x\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n')
    for (let part = below(30); part >= 0; part--) {
      const bytes =
        below(3) === 0 ? Buffer.from(Array.from({ length: below(200) }, () => below(256))) : Buffer.from(words[below(words.length)]!)
      if (client.socket.writable) client.send(bytes)
      if (below(4) === 0) await yieldToServer()
    }
    if (client.socket.writable) client.socket.end()
    // A failed handshake is answered by a TLS alert.
    const [replies = ''] = (await client.rest()).split('\x15\x03')
    expect(replies, `round ${round}`).toMatch(/^(?:[2-5]\d\d[ -][ -~]*\r\n)*$/)
  }
  const client = await inData(port)
  await client.ask('.', '250')
  await client.ask('QUIT', '221')
  await client.rest()
  await server.drain(1_000)
  expect(server.connections()).toBe(0)
})
