// The SMTP client's connection pool. Covers reuse, limits and replacement of stale connections.
import { describe, expect, test } from 'vitest'
import { answer, envelope, kinds, message, type Peer, relayTo, scripted, welcome } from './harness/scripted-smtp.ts'

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

  test('connections never exceed the limit, and every message waits in order and is delivered', async () => {
    let open = 0
    let openMost = 0
    const orders: number[][] = []
    const server = await scripted(async (peer) => {
      const order: number[] = []
      orders.push(order)
      openMost = Math.max(openMost, ++open)
      void peer.gone.then(() => open--)
      await welcome(peer, 'PIPELINING')
      await answer(peer, {
        RCPT: (line) => {
          order.push(Number(/a(\d+)@/.exec(line)?.[1]))
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
    // The longest waiting message gets the next free connection, so each connection carries them in arrival order.
    expect(orders.flat().toSorted((a, b) => a - b)).toEqual(names.map((_, i) => i))
    for (const order of orders) expect(order).toEqual(order.toSorted((a, b) => a - b))
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
  ])('a stale connection is replaced without an error when the server %s', async (_name, goStale) => {
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

  test('a reused connection that breaks after MAIL was answered is not retried at once', async () => {
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

  test('a new connection that breaks before MAIL is not retried at once', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      peer.socket.end()
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test'), message))).toEqual(['retry'])
    expect(server.peers).toHaveLength(1)
  })

  test('idle connections are closed after their time', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'PIPELINING')
      await answer(peer, { DATA: '354 go', END: '250 ok' })
    })
    await relayTo(server.port, { limits: { idleMs: 20 } }).deliver(envelope('a@x.test'), message)
    await server.peers[0]?.gone
    expect(server.peers[0]?.seen.at(-1)).toBe('QUIT')
  })

  test('closing refuses waiting messages, lets running ones end, and accepts no more', async () => {
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
