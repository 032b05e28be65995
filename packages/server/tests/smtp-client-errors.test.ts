// The SMTP client against servers that drop the connection, never answer, or answer with rubbish.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { cleanups, envelope, message, type Peer, relayTo, scripted, welcome } from './harness/scripted-smtp.ts'

describe('broken connections', () => {
  afterEach(() => void vi.useRealTimers())
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

  // Each script ends when the client waits for the answer that never comes.
  test.each<[string, (peer: Peer) => unknown]>([
    ['greeting', () => undefined],
    [
      'EHLO',
      (peer) => {
        peer.say('220 hi')
        return peer.line()
      },
    ],
    [
      'MAIL',
      async (peer) => {
        await welcome(peer, 'PIPELINING')
        await peer.line()
      },
    ],
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
        await peer.data()
      },
    ],
  ])('a server that never answers (%s) times out', async (what, script) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const silent = Promise.withResolvers<void>()
    const server = await scripted(async (peer) => {
      await script(peer)
      silent.resolve()
    })
    let isOver = false
    const delivering = relayTo(server.port, { timeouts: { commandMs: 60, dataMs: 60 } })
      .deliver(envelope('a@x.test'), message)
      .finally(() => {
        isOver = true
      })
    await silent.promise
    while (!isOver) {
      await vi.advanceTimersByTimeAsync(10)
      await new Promise(setImmediate)
    }
    const [outcome] = await delivering
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
  ])('a hostile greeting (%s) is refused', async (_name, text) => {
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
