// Two ends of a tunnel connection in memory, with split bytes, windows, ends, resets, garbage and silence.
import { expect, test } from 'vitest'
import { resetCodes } from './frames.ts'
import { TunnelMux } from './mux.ts'
import type { StreamListener, TunnelStream } from './stream.ts'
import { encodeMessage, MessageReader } from './web-socket.ts'
import { ReceiveWindow, WindowBudget, windowBytesFirst, windowBytesMax } from './window.ts'

type End = { mux: TunnelMux; sent: Uint8Array[]; opened: TunnelStream[]; closed: string[]; reports: unknown[] }

/** One end, whose bytes are kept until they are relayed. */
function createEnd(
  budget = new WindowBudget(64 * 1024 * 1024),
  opens = false,
  more: { pingEveryMs?: number; deadAfterMs?: number } = {},
): End {
  const end = { sent: [] as Uint8Array[], opened: [] as TunnelStream[], closed: [] as string[], reports: [] as unknown[] }
  const mux = new TunnelMux({
    write: (chunks) => {
      end.sent.push(...chunks)
      return true
    },
    unsent: () => 0,
    defer: (work) => queueMicrotask(work),
    allocate: (bytes) => new Uint8Array(bytes),
    ...(opens ? {} : { onOpen: (stream: TunnelStream) => void end.opened.push(stream) }),
    onReport: (stream, about) => end.reports.push([stream, about]),
    onClose: (reason) => end.closed.push(reason),
    budget,
    ...more,
  })
  return { mux, ...end }
}

/** Relays everything in chunks of this size until both ends are idle. */
async function carry(left: End, right: End, pieceBytes = Number.POSITIVE_INFINITY): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (left.sent.length === 0 && right.sent.length === 0) return
    for (const [from, to] of [
      [left, right],
      [right, left],
    ] as const) {
      for (const chunk of from.sent.splice(0)) {
        for (let at = 0; at < chunk.length; at += pieceBytes) to.mux.receive(chunk.slice(at, Math.min(chunk.length, at + pieceBytes)))
      }
    }
  }
}

/** Records selected events of a stream. */
function listen(stream: TunnelStream, some: Partial<StreamListener>): void {
  stream.listener = { ...stream.listener, ...some }
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytes = (value: string) => new TextEncoder().encode(value)

test.each([1, 2, 7, 9, 10, 1000])('bytes arrive whole and in order, in pieces of %i', async (size) => {
  const [gateway, client] = [createEnd(undefined, true), createEnd()]
  const stream = gateway.mux.open(bytes('first '), { note: 'ü' })
  stream.write(bytes('second'))
  let answer = ''
  let ended = 0
  listen(stream, {
    onData(piece) {
      answer += text(piece)
    },
    onEnd: () => void ended++,
  })
  stream.end()
  let got = ''
  await new Promise<void>((resolve) => setImmediate(resolve))
  const original = client.opened.push.bind(client.opened)
  client.opened.push = (...streams) => {
    for (const one of streams) {
      listen(one, {
        onData(piece) {
          got += text(piece)
        },
        onEnd: () => one.end(bytes(`got ${got}`)),
      })
    }
    return original(...streams)
  }
  await carry(gateway, client, size)
  expect(got).toBe('first second')
  expect(answer).toBe('got first second')
  expect(ended).toBe(1)
  expect(client.opened[0]?.about).toEqual({ note: 'ü' })
  expect([gateway.mux.streamCount, client.mux.streamCount]).toEqual([0, 0])
  expect([gateway.closed, client.closed]).toEqual([[], []])
})

test('a sender stops at the window and goes on when the reader has taken it', async () => {
  const [gateway, client] = [createEnd(undefined, true), createEnd()]
  const stream = gateway.mux.open(bytes('x'))
  await carry(gateway, client)
  const [arrived] = client.opened as [TunnelStream]
  let got = 0
  listen(arrived, {
    onData(piece) {
      got += piece.length
    },
  })
  let drains = 0
  listen(stream, { onDrain: () => void drains++ })
  expect(stream.write(new Uint8Array(2 * windowBytesFirst))).toBe(false)
  await carry(gateway, client)
  expect(got).toBe(windowBytesFirst - 1)
  expect(drains).toBe(0)
  arrived.taken(windowBytesFirst)
  await carry(gateway, client)
  expect(got).toBeGreaterThanOrEqual(2 * windowBytesFirst - 1)
  arrived.taken(windowBytesFirst)
  await carry(gateway, client)
  expect(got).toBe(2 * windowBytesFirst)
  expect(drains).toBe(1)
})

test('a window grows for a reader that keeps up, within the budget, and returns its growth', () => {
  const budget = new WindowBudget(7 * windowBytesFirst)
  const window = new ReceiveWindow(windowBytesFirst, budget)
  /** Receives half a window and reads it within this time. Returns the bytes that the peer may send in addition. */
  const read = (startMs: number, tookMs: number) => {
    const quarter = window.size / 4
    expect(window.receive(2 * quarter, startMs)).toBe(true)
    return window.take(quarter, startMs, 50) + window.take(quarter, startMs + tookMs, 50) - 2 * quarter
  }
  // Slower than a window in three round trips of 50 ms, so that the reader limits the sender.
  expect(read(0, 76)).toBe(0)
  expect(read(1000, 74)).toBe(windowBytesFirst)
  // In a burst the window limits the sender.
  expect(read(2000, 24)).toBe(6 * windowBytesFirst)
  // The budget is used up.
  expect(read(3000, 24)).toBe(0)
  expect([budget.taken, window.size]).toEqual([7 * windowBytesFirst, 8 * windowBytesFirst])
  window.close()
  expect(budget.taken).toBe(0)
  const alone = new ReceiveWindow(windowBytesMax, new WindowBudget(windowBytesMax))
  alone.receive(windowBytesMax, 0)
  expect(alone.take(windowBytesMax, 1, 50)).toBe(windowBytesMax)
  expect(alone.receive(windowBytesMax + 1, 2)).toBe(false)
})

test('a window begins where others over a long line have ended, as far as the budget goes, until one is not read', () => {
  const budget = new WindowBudget(16 * windowBytesFirst)
  const grown = (roundTripMs: number): ReceiveWindow => {
    const window = new ReceiveWindow(windowBytesFirst, budget)
    window.receive(windowBytesFirst / 2, 0)
    window.take(windowBytesFirst / 2, 1, roundTripMs)
    return window
  }
  const ahead = (): number => {
    const window = new ReceiveWindow(windowBytesFirst, budget)
    const more = window.startAhead()
    // The peer may send all of it, and no more.
    expect([window.receive(windowBytesFirst + more, 0), window.receive(1, 0)]).toEqual([true, false])
    window.take(windowBytesFirst + more, 1000, null)
    window.close()
    return more
  }
  const near = grown(2)
  expect(near.size).toBe(2 * windowBytesFirst)
  near.close()
  expect(ahead()).toBe(0)
  grown(50).close()
  expect(ahead()).toBe(3 * windowBytesFirst)
  expect(budget.taken).toBe(0)

  budget.take(4 * windowBytesFirst)
  expect(ahead()).toBe(0)
  budget.give(4 * windowBytesFirst)

  const unread = new ReceiveWindow(windowBytesFirst, budget)
  unread.receive(windowBytesFirst + unread.startAhead(), 0)
  unread.close()
  expect([ahead(), budget.taken]).toEqual([0, 0])
})

test.each([
  ['evenly', 1],
  ['in bursts', 8],
])('a line of 50 ms that sends %s is soon as full as it can be', (_how, unevenness) => {
  const window = new ReceiveWindow(windowBytesFirst, new WindowBudget(64 * 1024 * 1024))
  const [roundTripMs, lineBytesPerMs] = [50, 80_000]
  /** The bytes that the sender may send, and the times when grants reach it. */
  let open = windowBytesFirst
  let onItsWay: { atMs: number; bytes: number }[] = []
  let got = 0
  for (let ms = 0; ms < 1000; ms += unevenness) {
    for (const { bytes } of onItsWay.filter(({ atMs }) => atMs <= ms)) open += bytes
    onItsWay = onItsWay.filter(({ atMs }) => atMs > ms)
    const sent = Math.min(open, lineBytesPerMs * unevenness)
    if (sent === 0) continue
    open -= sent
    got += sent
    expect(window.receive(sent, ms)).toBe(true)
    const granted = window.take(sent, ms, roundTripMs)
    if (granted > 0) onItsWay.push({ atMs: ms + roundTripMs, bytes: granted })
  }
  // Of the 80 MB that the line carries in a second.
  expect(got).toBeGreaterThan(65_000_000)
  expect(window.size).toBeLessThanOrEqual(windowBytesMax)
})

test('a reset ends both sides at once, later frames of it are passed over, and an ended stream is not reset', async () => {
  const [gateway, client] = [createEnd(undefined, true), createEnd()]
  const stream = gateway.mux.open(bytes('x'))
  await carry(gateway, client)
  const [arrived] = client.opened as [TunnelStream]
  const codes: number[] = []
  listen(arrived, { onReset: (code) => void codes.push(code) })
  arrived.write(bytes('on its way'))
  stream.reset(resetCodes.idle)
  stream.reset(resetCodes.idle)
  await carry(gateway, client)
  expect(codes).toEqual([resetCodes.idle])
  expect([gateway.closed, client.closed, gateway.mux.streamCount, client.mux.streamCount]).toEqual([[], [], 0, 0])
})

test.each([
  ['data for a stream that was never opened', [0, 0, 0, 1, 3, 0, 0, 0, 9, 65]],
  ['an unknown type', [0, 0, 0, 0, 99, 0, 0, 0, 0]],
  ['a frame of 4 GB', [255, 255, 255, 255, 3, 0, 0, 0, 1]],
  ['a hello that is no JSON', [0, 0, 0, 1, 1, 0, 0, 0, 0, 65]],
  ['an opening out of order', [0, 0, 0, 6, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]],
])('%s closes the connection', async (_name, frame) => {
  const end = createEnd()
  end.mux.receive(new Uint8Array(frame))
  expect(end.closed[0]).toMatch(/^protocol: /)
  end.mux.receive(new Uint8Array([1, 2, 3]))
  expect(end.closed).toHaveLength(1)
})

test('random bytes never throw, whatever they are', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  for (let round = 0; round < 3000; round++) {
    const end = createEnd()
    for (let i = 0; i < 5; i++) {
      const frame = new Uint8Array(9 + Math.floor(random() * 40)).map(() => Math.floor(random() * 256))
      frame.set([0, 0, 0, frame.length - 9, 1 + Math.floor(random() * 9), 0, 0, 0, Math.floor(random() * 3)])
      end.mux.receive(frame)
    }
    end.mux.close('done')
  }
})

test('more data than the window closes the connection', async () => {
  const [gateway, client] = [createEnd(undefined, true), createEnd()]
  gateway.mux.open(bytes('x'))
  await carry(gateway, client)
  const frame = new Uint8Array(9 + 65_536)
  frame.set([0, 1, 0, 0, 3, 0, 0, 0, 1])
  for (let i = 0; i < 5; i++) client.mux.receive(frame)
  expect(client.closed[0]).toMatch(/window/)
})

test('a stream opened on a connection that has ended is lost, not silent', async () => {
  const end = createEnd(undefined, true)
  end.mux.close('gone')
  const codes: number[] = []
  listen(end.mux.open(bytes('x')), { onReset: (code) => void codes.push(code) })
  await Promise.resolve()
  expect(codes).toEqual([resetCodes.targetLost])
})

test('a connection without a sign of life is dead, and its streams with it', async () => {
  const end = createEnd(undefined, true, { pingEveryMs: 20, deadAfterMs: 20 })
  const stream = end.mux.open(bytes('x'))
  const codes: number[] = []
  listen(stream, { onReset: (code) => void codes.push(code) })
  await new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (end.closed.length === 0) return
      clearInterval(look)
      resolve()
    }, 5)
  })
  expect(end.closed).toEqual(['silent'])
  expect(codes).toEqual([resetCodes.targetLost])
})

test.each([1, 3, 1000])('WebSocket messages are one stream of bytes, masked or not, in pieces of %i', (size) => {
  for (const isMasked of [true, false]) {
    const got: number[] = []
    const reader = new MessageReader(isMasked, { data: (piece) => got.push(...piece), reply: () => {}, close: () => {} })
    const wanted = [10, 200, 70_000].map((length) => new Uint8Array(length).map((_, i) => i % 251))
    for (const message of wanted) {
      for (const chunk of encodeMessage([message.subarray(0, 3), message.subarray(3)], isMasked)) {
        for (let at = 0; at < chunk.length; at += size) reader.push(chunk.subarray(at, at + size))
      }
    }
    expect(got.length).toBe(70_210)
    expect(got.slice(210, 510)).toEqual([...(wanted[2] as Uint8Array).subarray(0, 300)])
  }
})

test('the first frame of an event loop phase is sent at once, then groups, and the rest at its end', () => {
  const work: (() => void)[] = []
  const written: number[] = []
  const endTurn = () => {
    for (const one of work.splice(0)) one()
    return written.splice(0)
  }
  const mux = new TunnelMux({
    write: (chunks) => {
      written.push(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
      return true
    },
    unsent: () => 0,
    defer: (one) => void work.push(one),
    allocate: (size) => new Uint8Array(size),
    onClose() {},
    budget: new WindowBudget(64 * 1024 * 1024),
  })
  endTurn()
  const write = (stream: TunnelStream, size: number, times: number) => {
    for (let i = 0; i < times; i++) stream.write(new Uint8Array(size))
  }
  // The opener has not attached its listener yet, so an open frame waits for the end of the phase or for a later write.
  const stream = mux.open(bytes('first'))
  expect(written).toEqual([])
  write(stream, 91, 1)
  expect(written).toEqual([9 + 6 + 5 + 100])
  write(stream, 91, 7)
  expect(written).toHaveLength(1)
  write(stream, 91, 1)
  expect(written).toEqual([120, 800])
  write(stream, 91, 3)
  expect(endTurn()).toEqual([120, 800, 300])
  // Large ones do not wait for a group, and bytes keep their order.
  write(stream, 91, 2)
  write(stream, 64 * 1024, 1)
  expect(endTurn()).toEqual([100, 100 + 9 + 64 * 1024])
  mux.close('closed')
})

test('sync calls back after everything in flight both ways', async () => {
  const [gateway, client] = [createEnd(undefined, true), createEnd()]
  await carry(gateway, client)
  // Sent before the gateway knows that the client leaves.
  gateway.mux.open(bytes('late'))
  gateway.mux.report(1, { status: 200 })
  let seen: unknown = null
  client.mux.goaway({ code: 'drain', reason: 'closing' })
  client.mux.sync(() => {
    seen = [client.opened.length, client.reports]
  })
  expect(seen).toBeNull()
  await carry(gateway, client)
  expect(seen).toEqual([1, [[1, { status: 200 }]]])
  gateway.mux.close('closed')
  client.mux.close('closed')
})
