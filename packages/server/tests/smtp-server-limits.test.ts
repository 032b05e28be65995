// The SMTP server's limits in number, time and memory, and how it shuts down.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { inData, open, openData, yieldToServer } from './transcripts/smtp/listening-server.ts'
import { DialogClient } from './transcripts/smtp/play.ts'

describe('limits', () => {
  afterEach(() => void vi.useRealTimers())

  test('a client that talks before the greeting is refused', async () => {
    const { port } = await open({ greetingDelayMs: 60_000 })
    const client = await DialogClient.connect(port)
    client.send('EHLO spam.example\r\n')
    expect(await client.rest()).toBe('554 5.5.1 Bytes came before the greeting\r\n')
  })

  test('connections from one address', async () => {
    const { server, port } = await open({ connectionsPerAddressMax: 2 })
    const first = await DialogClient.greeted(port)
    const second = await DialogClient.greeted(port)
    const third = await DialogClient.connect(port)
    expect(await third.rest()).toBe('421 4.7.0 Too many connections from your address\r\n')
    expect(server.connections()).toBe(2)
    await first.ask('QUIT', '221')
    await first.rest()
    await second.ask('NOOP', '250')
    const fourth = await DialogClient.greeted(port)
    await fourth.ask('NOOP', '250')
  })

  test('connections from one address in a minute', async () => {
    const { port } = await open({ connectionsPerMinuteMax: 2 })
    for (let count = 0; count < 2; count++) {
      const client = await DialogClient.greeted(port)
      await client.ask('QUIT', '221')
      await client.rest()
    }
    const third = await DialogClient.connect(port)
    expect(await third.rest()).toBe('421 4.7.0 Too many connections from your address\r\n')
  })

  test('connections in all', async () => {
    const { port } = await open({ connectionsMax: 1 })
    await DialogClient.greeted(port)
    const second = await DialogClient.connect(port)
    expect(await second.rest()).toBe('421 4.3.2 Too many connections, try again later\r\n')
  })

  test('a full disk is reported before the data is sent, and only while it is full', async () => {
    let free = 1_000_000
    const { port, receiver } = await open({}, { sizeBytesMax: 1_000_000, freeBytes: () => free })
    const client = await DialogClient.greeted(port)
    await client.ask('EHLO client.example', '250')
    await client.ask('MAIL FROM:<a@example.org>', '452 4.3.1 Insufficient storage')
    await client.ask('MAIL FROM:<a@example.org> SIZE=700000', '452 4.3.1')
    await client.ask('MAIL FROM:<a@example.org> SIZE=600000', '250')
    await client.ask('RSET', '250')
    free = 2_000_000
    await openData(client)
    client.send('.\r\n')
    await client.ask('QUIT', '250')
    expect(receiver.accepted).toHaveLength(1)
  })

  test('an idle client gets a reply before it is disconnected, before and inside a message', async () => {
    const { port: impatient } = await open({ commandTimeoutMs: 60 })
    const idle = await DialogClient.greeted(impatient)
    expect(await idle.rest()).toBe('421 4.4.2 Timeout waiting for a command\r\n')
    const { port, receiver } = await open({ dataTimeoutMs: 60 })
    const stalled = await inData(port)
    stalled.send('Subject: x\r\n')
    expect(await stalled.rest()).toBe('421 4.4.2 Message data came too slowly\r\n')
    expect(receiver.accepted).toEqual([])
  })

  test('bytes without a whole command do not extend the timeout', async () => {
    const { port } = await open({ commandTimeoutMs: 80 })
    const client = await DialogClient.greeted(port)
    const drip = setInterval(() => client.send('N'), 10)
    expect(await client.rest()).toBe('421 4.4.2 Timeout waiting for a command\r\n')
    clearInterval(drip)
  })

  test('a session ends at its time limit, after the message in flight', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { port, receiver } = await open({ sessionTimeoutMs: 600 })
    const [idle, busy] = [await DialogClient.greeted(port), await inData(port)]
    await vi.advanceTimersByTimeAsync(600)
    expect(await idle.rest()).toBe('421 4.4.2 Session lasted too long\r\n')
    busy.send('.\r\n')
    expect(await busy.rest()).toBe('250 2.0.0 queued as m1\r\n421 4.4.2 Session lasted too long\r\n')
    expect(receiver.accepted).toHaveLength(1)
  })

  test('errors after the fifth are delayed', async () => {
    const { port } = await open({ errorDelayMs: 40 })
    const client = await DialogClient.greeted(port)
    for (let count = 0; count < 5; count++) await client.ask('X', '500')
    const before = performance.now()
    await client.ask('X', '500')
    expect(performance.now() - before).toBeGreaterThan(35)
    await client.ask('NOOP', '250')
    client.close()
  })

  test('memory for messages is bounded over all sessions and returned', async () => {
    const { port, receiver } = await open({ memoryBytesMax: 300_000 })
    const client = await inData(port)
    client.send(`\r\n${`${'x'.repeat(70)}\r\n`.repeat(6_000)}.\r\n`)
    await client.expect('452 4.3.1')
    await openData(client)
    client.send(`\r\n${`${'x'.repeat(70)}\r\n`.repeat(2_000)}.\r\n`)
    await client.expect('250')
    expect(receiver.accepted).toHaveLength(1)
    client.close()
  })

  const lines = (bytes: number) => `\r\n${`${'x'.repeat(98)}\r\n`.repeat(bytes / 100)}`

  // Only Linux has every address of 127.0.0.0/8 without configuration.
  test.skipIf(process.platform !== 'linux')('one address cannot hold the memory of all', async () => {
    const { port, receiver } = await open({ memoryBytesMax: 4_000_000, memoryPerAddressBytesMax: 2_000_000 })
    const held = await inData(port)
    held.send(lines(900_000))
    const second = await inData(port)
    second.send(`${lines(1_200_000)}.\r\n`)
    await second.expect('452 4.3.1 Insufficient memory')
    const other = await inData(port, '127.0.0.2')
    other.send(`${lines(900_000)}.\r\n`)
    await other.expect('250')
    held.send('.\r\n')
    await held.expect('250')
    expect(receiver.accepted.map(({ raw }) => raw.length)).toEqual([900_002, 900_002])
    for (const client of [held, second, other]) client.close()
  })

  describe('large messages in transfer', () => {
    const folders: string[] = []
    const makeFolder = async (): Promise<string> => {
      const folder = await mkdtemp(join(tmpdir(), 'callsign-spool-'))
      folders.push(folder)
      return folder
    }
    afterEach(async () => {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
    })

    test('wait on the disk, arrive unchanged, and leave no file', async () => {
      const spoolFolder = await makeFolder()
      // Much less than the three messages together. One fits after the other.
      const { port, receiver } = await open({ memoryBytesMax: 11_000_000 }, { spoolFolder })
      const clients = await Promise.all([inData(port), inData(port), inData(port)])
      const texts = [0, 1, 2].map((number) => `\r\n${`${number}${'x'.repeat(77)}\r\n`.repeat(80_000)}`)
      await Promise.all(clients.map((client, index) => new Promise((resolve) => client.socket.write(texts[index] as string, resolve))))
      const small = await inData(port)
      small.send('\r\nsmall\r\n.\r\n')
      await small.expect('250')
      for (const client of clients) client.send('.\r\n')
      for (const client of clients) await client.expect('250')
      const sent = new Set([...texts, '\r\nsmall\r\n'])
      expect(new Set(receiver.accepted.map(({ raw }) => raw.toString('latin1')))).toEqual(sent)
      expect(await readdir(spoolFolder)).toEqual([])
      // The same connections again, from the first byte on.
      for (const client of clients) {
        await openData(client)
        client.send('\r\nagain\r\n.\r\n')
        await client.expect('250')
        client.close()
      }
      expect(receiver.accepted.at(-1)?.raw.toString()).toBe('\r\nagain\r\n')
      small.close()
    })

    test('get 452 beyond the disk space of their address, and when no memory comes free', async () => {
      const spoolFolder = await makeFolder()
      const limits = { spoolPerAddressBytesMax: 5_000_000, memoryBytesMax: 4_000_000, memoryWaitMs: 20 }
      const { port, receiver } = await open(limits, { spoolFolder })
      const client = await inData(port)
      client.send(`${lines(6_000_000)}.\r\n`)
      await client.expect('452 4.3.1')
      let release = () => {}
      receiver.hold = new Promise((resolve) => {
        release = resolve
      })
      const accepting = new Promise<void>((resolve) => {
        receiver.onAccept = resolve
      })
      await openData(client)
      client.send(`${lines(2_200_000)}.\r\n`)
      await accepting
      const second = await inData(port)
      second.send(`${lines(2_200_000)}.\r\n`)
      await second.expect('452 4.3.1')
      release()
      await client.expect('250')
      await openData(second)
      second.send(`${lines(2_200_000)}.\r\n`)
      await second.expect('250')
      client.close()
      second.close()
    })

    test('get 452 when the folder cannot be written', async () => {
      const { port } = await open({}, { spoolFolder: join(await makeFolder(), 'none', '\0') })
      const client = await inData(port)
      client.send(`${lines(4_000_000)}.\r\n`)
      await client.expect('452 4.3.1')
      client.close()
    })
  })

  test('the data of one message has a total time, however fast it comes', async () => {
    const { port, receiver } = await open({ dataTimeoutMs: 40, dataTotalMs: 100, dataBytesPerSecondMin: 0 })
    const client = await inData(port)
    const drip = setInterval(() => client.send('a line that goes on and on\r\n'), 5)
    expect(await client.rest()).toBe('421 4.4.2 Message data came too slowly\r\n')
    clearInterval(drip)
    expect(receiver.accepted).toHaveLength(0)
  })

  test('a client that never reads its replies is not read forever', async () => {
    const { port } = await open()
    const client = await DialogClient.greeted(port)
    client.socket.pause()
    let written = 0
    const block = Buffer.from('HELP\r\n'.repeat(20_000))
    while (written < 200 && client.socket.writableLength < 8 * block.length) {
      client.send(block)
      written++
      await yieldToServer()
    }
    expect(written).toBeLessThan(200)
    client.close()
  })
})

describe('shutting down', () => {
  test('idle sessions end at once, and a message in flight is finished first', async () => {
    const { server, port, receiver } = await open()
    const idle = await DialogClient.greeted(port)
    const sending = await inData(port)
    sending.send('Subject: last\r\n')
    let release: () => void = () => {}
    receiver.hold = new Promise((resolve) => {
      release = resolve
    })
    const isAccepting = new Promise<void>((resolve) => {
      receiver.onAccept = resolve
    })
    const accepting = await inData(port)
    accepting.send('.\r\n')
    await isAccepting
    const drained = server.drain(20_000)
    expect(await idle.rest()).toBe('421 4.3.2 Shutting down, try again later\r\n')
    await expect(DialogClient.connect(port)).rejects.toThrow('ECONNREFUSED')
    release()
    expect(await accepting.rest()).toBe('250 2.0.0 queued as m1\r\n421 4.3.2 Shutting down, try again later\r\n')
    sending.send('\r\n.\r\n')
    expect(await sending.rest()).toBe('250 2.0.0 queued as m2\r\n421 4.3.2 Shutting down, try again later\r\n')
    await drained
    expect(server.connections()).toBe(0)
  })

  test('a message in flight is dropped after the grace period', async () => {
    const { server, port, receiver } = await open()
    const sending = await inData(port)
    await server.drain(30)
    expect(await sending.rest()).toBe('421 4.3.2 Shutting down, try again later\r\n')
    expect(receiver.accepted).toEqual([])
  })

  test('a taken port is an error', async () => {
    const { port } = await open()
    await expect(open({}, { port })).rejects.toThrow('EADDRINUSE')
  })
})
