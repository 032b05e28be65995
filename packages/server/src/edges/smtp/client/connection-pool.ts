// Keeps the SMTP client's connections: reused where they are idle, so many at most to one server, the rest waiting in order.
import { nowMs } from '../../../core/clock.ts'
import type { Envelope, Handover } from '../../../features/mail/outbound/provider.ts'
import { type Channel, ConnectionFailure } from './channel.ts'
import { type ClientSession, type ClientTarget, openSession, type Sent, sendMessage } from './conversation.ts'
import type { PreparedData } from './outgoing-data.ts'

/**
 * Limits of a pool: connections to one server (it begins with `connectionsStart`; every message that it takes makes room for one more, and failure
 * with its connections halves them), messages over one connection, how long one may idle, how long one attempt may take, and how long a server that
 * cannot be reached is left alone (0: not at all).
 * An attempt that waited `waitMs` for a connection gives up without having tried (0: it waits on): one busy server must not hold up mail for others.
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

// An attempt ends before the lease of a delivery job does: afterwards another worker may send the same message.
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
  /** One attempt for one message: a handover per recipient, in order, within `attemptMs`. Targets that are equal share connections. */
  send(target: ClientTarget, envelope: Envelope, data: PreparedData, isFinal: boolean): Promise<Tried>
  /** Ends idle connections at once and refuses whatever waits; resolves when attempts under way have ended, at most `graceMs` later. */
  close(graceMs?: number): Promise<void>
}

/** `isUntouched`: the server said nothing about this message, so that another server of the same destination may be tried. */
export type Tried = { handovers: Handover[]; isUntouched: boolean }

type Pooled = { session: ClientSession; messages: number; idleTimer: NodeJS.Timeout | null }

/**
 * What we have with one server. An attempt holds one of `turns` turns while it runs, takes an idle connection if there is one
 * and opens one only if there is none: so idle and busy connections together never exceed the turns.
 */
type Lane = { key: string; idle: Pooled[]; busy: number; turns: number; waiting: Attempt[] }

/** One message on its way. `channel` is what a deadline or the end of the pool has to break; `go` ends its wait for a turn. */
type Attempt = { channel: Channel | null; stop: ConnectionFailure | null; go: (() => void) | null; isPostponed: boolean }

export function createClientPool(custom: Partial<PoolLimits> = {}): ClientPool {
  const limits = { ...poolLimits, connectionsStart: custom.connectionsMax ?? poolLimits.connectionsStart, ...custom }
  const lanes = new Map<string, Lane>()
  const attempts = new Set<Attempt>()
  /** Servers that could not be reached, why, and until when they are left alone. */
  const resting = new Map<string, { failure: ConnectionFailure; untilMs: number }>()
  let isClosed = false
  let onQuiet: (() => void) | null = null

  const stop = (attempt: Attempt, message: string, code: string): void => {
    attempt.stop ??= new ConnectionFailure(message, code)
    attempt.channel?.fail(message, code)
    attempt.go?.()
  }

  /** Waits for a turn, first come first served. Throws without one when the attempt was stopped meanwhile. */
  const takeTurn = async (lane: Lane, attempt: Attempt): Promise<void> => {
    if (attempt.stop) throw attempt.stop
    if (lane.busy < lane.turns) {
      lane.busy++
      return
    }
    lane.waiting.push(attempt)
    const patience = limits.waitMs > 0 ? setTimeout(() => stop(attempt, busy, '4.4.5'), limits.waitMs) : undefined
    await new Promise<void>((resolve) => {
      attempt.go = resolve
    })
    clearTimeout(patience)
    attempt.go = null
    const place = lane.waiting.indexOf(attempt)
    if (place === -1) return
    lane.waiting.splice(place, 1)
    const failure = attempt.stop as ConnectionFailure | null
    attempt.isPostponed = failure?.message === busy
    throw failure
  }

  /** Hands the turn to whoever has waited longest, so that nobody can slip in between; more than one when the turns have grown, none when they shrank. */
  const passTurn = (lane: Lane): void => {
    lane.busy--
    while (lane.busy < lane.turns) {
      const next = lane.waiting.shift()
      if (!next) return
      lane.busy++
      next.go?.()
    }
  }

  const rest = (lane: Lane, failure: ConnectionFailure): void => {
    if (limits.restMs === 0) return
    if (resting.size >= restingMax) for (const [key, { untilMs }] of resting) if (untilMs < nowMs()) resting.delete(key)
    if (resting.size < restingMax) resting.set(lane.key, { failure, untilMs: nowMs() + limits.restMs })
  }

  const requireAwake = (lane: Lane): void => {
    const found = resting.get(lane.key)
    if (found && found.untilMs > nowMs()) throw found.failure
    resting.delete(lane.key)
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
    requireAwake(lane)
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

  /** Keeps a connection for the next message, or ends it. */
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

  const told = (sent: Sent, pooled: Pooled, target: ClientTarget): Tried => ({
    handovers: sent.outcomes.map((outcome) => ({ ...outcome, hop: { host: target.label ?? target.host, tls: pooled.session.tls } })),
    isUntouched: sent.isUntouched,
  })

  const run = async (lane: Lane, attempt: Attempt, message: Parameters<ClientPool['send']>): Promise<Tried> => {
    await takeTurn(lane, attempt)
    let isWell = false
    try {
      if (attempt.stop) throw attempt.stop
      // The most recently used one: it is the least likely to have been closed, and the others may run out of idle time.
      const reused = lane.idle.pop()
      if (reused) {
        forget(lane, reused)
        const sent = await sendOver(lane, reused, attempt, message)
        if (!sent.isUntouched || attempt.stop) {
          isWell = !sent.isUntouched
          return told(sent, reused, message[0])
        }
        // Servers close idle connections as they please, often all at once: the others are of the same age.
        for (const pooled of [...lane.idle]) pooled.session.channel.quit()
      }
      const fresh = await open(lane, message[0], attempt)
      const sent = await sendOver(lane, fresh, attempt, message)
      isWell = !sent.isUntouched
      return told(sent, fresh, message[0])
    } finally {
      lane.turns = isWell ? Math.min(limits.connectionsMax, lane.turns + 1) : Math.max(1, Math.floor(lane.turns / 2))
      passTurn(lane)
    }
  }

  return {
    async send(...message) {
      const [target, envelope] = message
      const key = laneKey(target)
      const lane = lanes.get(key) ?? { key, idle: [], busy: 0, turns: limits.connectionsStart, waiting: [] }
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
        const handover: Handover = { kind: 'retry', answer, diagnosticCode, ...(attempt.isPostponed ? { isPostponed: true } : {}) }
        return { handovers: envelope.recipients.map(() => handover), isUntouched: !attempt.isPostponed }
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

/** Servers that cannot be reached are remembered up to this many: a sender to many dead domains must not fill the memory. */
const restingMax = 10_000
const busy = 'the server has as many of our messages as it takes at once'
const shuttingDown = 'the server is shutting down'

const laneKey = (target: ClientTarget): string =>
  [target.tlsMode, target.tls.serverName, target.tls.verify, target.host, target.port, target.hostname, target.auth?.user ?? ''].join(' ')
