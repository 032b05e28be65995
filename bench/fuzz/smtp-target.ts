// Fuzzes an SMTP session over a real socket. All output is valid replies, unsafe input is never accepted, and no state of a session remains.
import { connect } from 'node:net'
import { createLog } from '../../packages/server/src/core/log.ts'
import { createSmtpServer } from '../../packages/server/src/edges/smtp/server/listener.ts'
import type { Chance } from './inputs.ts'

export const smtpWords = [
  ...[
    'EHLO x\r\n',
    'HELO y\r\n',
    'MAIL FROM:<a@b.c>\r\n',
    'MAIL FROM:<> SIZE=9 BODY=8BITMIME SMTPUTF8\r\n',
    'RCPT TO:<d@e.f>\r\n',
    'RCPT TO:<unknown@e.f>\r\n',
    'RCPT TO:<broken@e.f>\r\n',
  ],
  ...[
    'DATA\r\n',
    '.\r\n',
    '..\r\n',
    '\r\n.\r\n',
    '\n.\n',
    '\r.\r',
    '\r\n.\n',
    '\n.\r\n',
    '\r\n',
    '\r',
    '\n',
    '\0',
    'RSET\r\n',
    'NOOP\r\n',
    'STARTTLS\r\n',
    'QUIT\r\n',
    'VRFY x\r\n',
    'AUTH PLAIN\r\n',
  ],
  ...[
    'BDAT 5 LAST\r\n',
    'GET / HTTP/1.1\r\n',
    'Received: x\r\n',
    'X: y\r\n',
    '<',
    '>',
    '"',
    '\\',
    '@',
    ' ',
    ':',
    '[IPv6:',
    '\xff',
    '\x16\x03\x01',
  ],
]

const waitMs = 20_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: the types and the version that begin a TLS record
const tlsRecord = /[\x14-\x17]\x03/

/** A server to be fuzzed, with small limits, so that the inputs reach each of them. */
export async function startTarget() {
  const accepted: Buffer[] = []
  const server = createSmtpServer(
    {
      host: '127.0.0.1',
      port: 0,
      hostname: 'mx.example',
      sizeBytesMax: 5_000,
      tls: 'generate',
      log: createLog('silent'),
      limits: {
        connectionsPerAddressMax: 0,
        connectionsPerMinuteMax: 0,
        headerBytesMax: 2_000,
        headerLinesMax: 40,
        hopsMax: 5,
        lineBytesMax: 1_500,
        discardBytesMax: 1_000,
        errorDelayMs: 0,
        lingerMs: 200,
        recipientsMax: 3,
      },
    },
    {
      async checkRecipient(address) {
        if (address.startsWith('broken@')) throw new Error('broken')
        return address.startsWith('unknown@')
          ? { kind: 'refused', reply: { code: 550, enhanced: '5.1.1', text: 'No' } }
          : { kind: 'accepted' }
      },
      async accept(_envelope, raw) {
        accepted.push(raw)
        return { kind: 'stored', id: 'x' }
      },
    },
  )
  const { port } = await server.listen()

  /** Runs one session and throws when a check fails. Returns the reply codes. */
  async function fuzzSession(bytes: Buffer, chance: Chance): Promise<string> {
    accepted.length = 0
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    let replies = ''
    socket.on('data', (chunk: Buffer) => {
      replies += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed])
    let at = 0
    while (at < bytes.length && socket.writable) {
      let end = Math.min(bytes.length, at + (chance.below(4) === 0 ? 1 + chance.below(3) : 1 + chance.below(400)))
      // Most clients wait for the answers to DATA and STARTTLS, or they are cut off there.
      const wait =
        chance.below(5) === 0
          ? -1
          : bytes
              .subarray(at, end + 12)
              .toString('latin1')
              .search(/(?:DATA|STARTTLS)\r\n/i)
      if (wait >= 0) end = at + bytes.subarray(at, end + 12).indexOf('\r\n', wait) + 2
      const answered = replies.length
      socket.write(bytes.subarray(at, end))
      at = end
      if (wait >= 0)
        for (let round = 0; round < 50 && replies.length === answered; round++) await new Promise((resolve) => setImmediate(resolve))
      // Also yields at other places, so that the server reads the bytes and answers them.
      else if (chance.below(2) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    socket.end()
    const timer = setTimeout(() => socket.destroy(new Error('late')), waitMs)
    await closed
    clearTimeout(timer)
    if (socket.errored?.message === 'late') throw new Error(`the session did not end within ${waitMs} ms`)
    // A failed handshake is answered by a TLS alert or another TLS record.
    const plain = replies.slice(0, replies.search(tlsRecord) >>> 0)
    if (!/^(?:[2-5]\d\d[ -][ -~]*\r\n)*$/.test(plain)) throw new Error(`not replies: ${JSON.stringify(plain.slice(0, 500))}`)
    for (const raw of accepted) {
      const text = raw.toString('latin1')
      if (/\r(?!\n)|(?<!\r)\n|\0/.test(text)) throw new Error(`unsafe bytes were accepted: ${JSON.stringify(text.slice(0, 500))}`)
      if (raw.length > 5_000) throw new Error(`${raw.length} octets were accepted`)
    }
    const codes = plain.split('\r\n').map((line) => (line[3] === '-' ? '' : line.slice(0, 9).replace(/ .*(?=\d\.\d)/, ' ')))
    return codes
      .filter((code, index) => code !== '' && code !== codes[index - 1])
      .slice(0, 12)
      .join(',')
  }

  return { fuzzSession, connections: () => server.connections(), stop: () => server.drain(1_000) }
}
