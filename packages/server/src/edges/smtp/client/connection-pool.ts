// Connection pool of the SMTP client. Idle connections are reused, connections per server are limited, and further attempts wait in order.
import { nowMs } from '../../../core/clock.ts'
import type { DeliveryResult, Envelope } from '../../../features/mail/outbound/provider.ts'
import { type Channel, ConnectionFailure } from './channel.ts'
import { type ClientSession, type ClientTarget, openSession } from './conversation.ts'
import type { PreparedData } from './outgoing-data.ts'
import { type Sent, sendMessage } from './transaction.ts'

/**
 * Limits of a pool. Connections per server start at `connectionsStart`. Each accepted message allows one more, up to `connectionsMax`, and
 * each failure halves the limit. A connection carries at most `messagesMax` messages, and is closed after `idleMs` without use.
 * One attempt takes at most `attemptMs`. After a failed connection the server is in backoff for `restMs` (0 disables it).
 * An attempt that waited `waitMs` for a connection is postponed without a try, so that one busy server does not delay mail for others (0
 * disables it).
 */
export type PoolLimits = {
  connectionsStart: number
  connectionsMax: number
  messagesMax: number
  idleMs: number
  attemptMs: number
  restMs: number
  waitMs: number
}

// An attempt ends before the longest run of its delivery job, 15 minutes. The lease is renewed until then. Afterwards another worker may send the same message.
const poolLimits: PoolLimits = {
  connectionsStart: 10,
  connectionsMax: 10,
  messagesMax: 100,
  idleMs: 30_000,
  attemptMs: 720_000,
  restMs: 0,
  waitMs: 0,
}

export type ClientPool = {
  /**
   * One attempt for one message, within `attemptMs`. Returns one delivery result per recipient, in order. Equal targets share connections.
   */
  send(target: ClientTarget, envelope: Envelope, data: PreparedData, isFinal: boolean): Promise<Tried>
  /** Closes idle connections at once and refuses waiting attempts. Resolves when attempts in flight have ended, at most `graceMs` later. */
  close(graceMs?: number): Promise<void>
}

/** `isUntouched` means that the server did not respond to this message, so that another server of the same destination may be tried. */
export type Tried = { deliveryResults: DeliveryResult[]; isUntouched: boolean }

type Pooled = { session: ClientSession; messages: number; idleTimer: NodeJS.Timeout | null }

/**
 * Connections to one server. A running attempt holds one of `slots`, and opens a connection only when none is idle. Idle and busy
 * connections together therefore never exceed the slots.
 */
type Lane = { key: string; idle: Pooled[]; busy: number; slots: number; waiting: Attempt[] }

/** One message in flight. `channel` is the connection that a deadline or `close` breaks. `go` ends the wait for a slot. */
type Attempt = { channel: Channel | null; stop: ConnectionFailure | null; go: (() => void) | null; isPostponed: boolean }

export function createClientPool(custom: Partial<PoolLimits> = {}): ClientPool {
  const limits = { ...poolLimits, connectionsStart: custom.connectionsMax ?? poolLimits.connectionsStart, ...custom }
  const lanes = new Map<string, Lane>()
  const attempts = new Set<Attempt>()
  /** Servers in backoff after a failed connection, with its failure and the end of the backoff. */
  const backoff = new Map<string, { failure: ConnectionFailure; untilMs: number }>()
  let isClosed = false
  let onQuiet: (() => void) | null = null

  const stop = (attempt: Attempt, message: string, code: string): void => {
    attempt.stop ??= new ConnectionFailure(message, code)
    attempt.channel?.fail(message, code)
    attempt.go?.()
  }

  /** Waits for a slot, first come first served. Throws when the attempt was stopped meanwhile. */
  const takeSlot = async (lane: Lane, attempt: Attempt): Promise<void> => {
    if (attempt.stop) throw attempt.stop
    if (lane.busy < lane.slots) {
      lane.busy++
      return
    }
    lane.waiting.push(attempt)
    const waitTimer = limits.waitMs > 0 ? setTimeout(() => stop(attempt, busy, '4.4.5'), limits.waitMs) : undefined
    await new Promise<void>((resolve) => {
      attempt.go = resolve
    })
    clearTimeout(waitTimer)
    attempt.go = null
    const place = lane.waiting.indexOf(attempt)
    if (place === -1) return
    lane.waiting.splice(place, 1)
    const failure = attempt.stop as ConnectionFailure | null
    attempt.isPostponed = failure?.message === busy
    throw failure
  }

  /**
   * Passes the slot to the longest waiting attempt, so that a new one cannot overtake it. Passes several when the limit has grown, and none
   * when it shrank.
   */
  const passSlot = (lane: Lane): void => {
    lane.busy--
    while (lane.busy < lane.slots) {
      const next = lane.waiting.shift()
      if (!next) return
      lane.busy++
      next.go?.()
    }
  }

  const rest = (lane: Lane, failure: ConnectionFailure): void => {
    if (limits.restMs === 0) return
    if (backoff.size >= backoffMax) for (const [key, { untilMs }] of backoff) if (untilMs < nowMs()) backoff.delete(key)
    if (backoff.size < backoffMax) backoff.set(lane.key, { failure, untilMs: nowMs() + limits.restMs })
  }

  const requireNoBackoff = (lane: Lane): void => {
    const found = backoff.get(lane.key)
    if (found && found.untilMs > nowMs()) throw found.failure
    backoff.delete(lane.key)
  }

  const retire = (lane: Lane): void => {
    if (!lane.busy && !lane.idle.length) lanes.delete(lane.key)
  }

  const forget = (lane: Lane, pooled: Pooled): void => {
    if (pooled.idleTimer) clearTimeout(pooled.idleTimer)
    pooled.idleTimer = null
    const place = lane.idle.indexOf(pooled)
    if (place !== -1) lane.idle.splice(place, 1)
    retire(lane)
  }

  const open = async (lane: Lane, target: ClientTarget, attempt: Attempt): Promise<Pooled> => {
    requireNoBackoff(lane)
    const session = await openSession(target, (channel) => {
      attempt.channel = channel
      if (attempt.stop) channel.fail(attempt.stop.message, attempt.stop.diagnosticCode)
    }).catch((error: unknown) => {
      if (error instanceof ConnectionFailure && !attempt.stop) rest(lane, error)
      throw error
    })
    const pooled: Pooled = { session, messages: 0, idleTimer: null }
    session.channel.onEnd(() => forget(lane, pooled))
    return pooled
  }

  /** Keeps a connection for the next message, or closes it. */
  const keep = (lane: Lane, pooled: Pooled): void => {
    const { channel } = pooled.session
    if (isClosed || channel.failure || pooled.messages >= limits.messagesMax) {
      channel.quit()
      return
    }
    pooled.idleTimer = setTimeout(() => channel.quit(), limits.idleMs)
    lane.idle.push(pooled)
  }

  const sendOver = async (lane: Lane, pooled: Pooled, attempt: Attempt, message: Parameters<ClientPool['send']>): Promise<Sent> => {
    attempt.channel = pooled.session.channel
    pooled.messages++
    try {
      return await sendMessage(pooled.session, message[1], message[2], message[3])
    } finally {
      attempt.channel = null
      keep(lane, pooled)
    }
  }

  const toTried = (sent: Sent, pooled: Pooled, target: ClientTarget): Tried => ({
    deliveryResults: sent.outcomes.map((outcome) => ({ ...outcome, hop: { host: target.label ?? target.host, tls: pooled.session.tls } })),
    isUntouched: sent.isUntouched,
  })

  const run = async (lane: Lane, attempt: Attempt, message: Parameters<ClientPool['send']>): Promise<Tried> => {
    await takeSlot(lane, attempt)
    let isWell = false
    try {
      if (attempt.stop) throw attempt.stop
      // The most recently used connection is the least likely to have been closed, and the others can reach their idle timeout.
      const reused = lane.idle.pop()
      if (reused) {
        forget(lane, reused)
        const sent = await sendOver(lane, reused, attempt, message)
        if (!sent.isUntouched || attempt.stop) {
          isWell = !sent.isUntouched
          return toTried(sent, reused, message[0])
        }
        // Servers often close all idle connections at once, and the others are of the same age.
        for (const pooled of [...lane.idle]) pooled.session.channel.quit()
      }
      const fresh = await open(lane, message[0], attempt)
      const sent = await sendOver(lane, fresh, attempt, message)
      isWell = !sent.isUntouched
      return toTried(sent, fresh, message[0])
    } finally {
      lane.slots = isWell ? Math.min(limits.connectionsMax, lane.slots + 1) : Math.max(1, Math.floor(lane.slots / 2))
      passSlot(lane)
    }
  }

  return {
    async send(...message) {
      const [target, envelope] = message
      const key = laneKey(target)
      const lane = lanes.get(key) ?? { key, idle: [], busy: 0, slots: limits.connectionsStart, waiting: [] }
      lanes.set(key, lane)
      const attempt: Attempt = {
        channel: null,
        stop: isClosed ? new ConnectionFailure(shuttingDown, '4.3.2') : null,
        go: null,
        isPostponed: false,
      }
      attempts.add(attempt)
      const lateness = `the attempt did not end within ${limits.attemptMs / 1000} s`
      const deadline = setTimeout(() => stop(attempt, lateness, '4.4.7'), limits.attemptMs)
      try {
        return await run(lane, attempt, message)
      } catch (error) {
        if (!(error instanceof ConnectionFailure)) throw error
        const { message: answer, diagnosticCode } = error
        const result: DeliveryResult = { kind: 'retry', answer, diagnosticCode, ...(attempt.isPostponed ? { isPostponed: true } : {}) }
        return { deliveryResults: envelope.recipients.map(() => result), isUntouched: !attempt.isPostponed }
      } finally {
        clearTimeout(deadline)
        attempts.delete(attempt)
        retire(lane)
        if (attempts.size === 0) onQuiet?.()
      }
    },

    async close(graceMs = 10_000) {
      isClosed = true
      for (const lane of lanes.values()) {
        for (const pooled of [...lane.idle]) pooled.session.channel.quit()
        for (const attempt of [...lane.waiting]) stop(attempt, shuttingDown, '4.3.2')
      }
      if (attempts.size === 0) return
      await new Promise<void>((resolve) => {
        const end = setTimeout(() => {
          for (const attempt of attempts) stop(attempt, shuttingDown, '4.3.2')
        }, graceMs)
        onQuiet = () => {
          clearTimeout(end)
          resolve()
        }
      })
    },
  }
}

/** Maximum number of servers in backoff, so that mail to many dead domains does not fill the memory. */
const backoffMax = 10_000
const busy = 'the server has as many of our messages as it accepts at once'
const shuttingDown = 'the server is shutting down'

const laneKey = (target: ClientTarget): string =>
  [target.tlsMode, target.tls.serverName, target.tls.verify, target.host, target.port, target.hostname, target.auth?.user ?? ''].join(' ')
