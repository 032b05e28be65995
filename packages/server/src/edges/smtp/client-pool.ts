// Keeps the SMTP client's connections: reused where they are idle, so many at most to one server, the rest waiting in order.
import type { Outcome } from '../../core/outcome.ts'
import type { Envelope } from '../../features/outbound-mail/provider.ts'
import { type ClientSession, type ClientTarget, openSession, type Sent, sendMessage } from './client.ts'
import { type Channel, ConnectionTrouble } from './client-channel.ts'
import type { PreparedData } from './client-data.ts'

/** Limits of a pool: connections to one server, messages over one connection, how long one may idle, how long one attempt may take. */
export type PoolLimits = { connectionsMax: number; messagesMax: number; idleMs: number; attemptMs: number }

// An attempt ends before the lease of a delivery job does: afterwards another worker may send the same message.
const poolLimits: PoolLimits = { connectionsMax: 10, messagesMax: 100, idleMs: 30_000, attemptMs: 720_000 }

export type ClientPool = {
  /** One attempt for one message: an outcome per recipient, in order, within `attemptMs`. Targets that are equal share connections. */
  send(target: ClientTarget, envelope: Envelope, data: PreparedData, isFinal: boolean): Promise<Outcome[]>
  /** Ends idle connections at once and refuses whatever waits; resolves when attempts under way have ended, at most `graceMs` later. */
  close(graceMs?: number): Promise<void>
}

type Pooled = { session: ClientSession; messages: number; idleTimer: NodeJS.Timeout | null }

/**
 * What we have with one server. An attempt holds one of `connectionsMax` turns while it runs, takes an idle connection if there is one
 * and opens one only if there is none: so idle and busy connections together never exceed the turns.
 */
type Lane = { key: string; idle: Pooled[]; busy: number; waiting: Attempt[] }

/** One message on its way. `channel` is what a deadline or the end of the pool has to break; `go` ends its wait for a turn. */
type Attempt = { channel: Channel | null; stop: ConnectionTrouble | null; go: (() => void) | null }

export function createClientPool(custom: Partial<PoolLimits> = {}): ClientPool {
  const limits = { ...poolLimits, ...custom }
  const lanes = new Map<string, Lane>()
  const attempts = new Set<Attempt>()
  let isClosed = false
  let onQuiet: (() => void) | null = null

  const stop = (attempt: Attempt, message: string, code: string): void => {
    attempt.stop ??= new ConnectionTrouble(message, code)
    attempt.channel?.fail(message, code)
    attempt.go?.()
  }

  /** Waits for a turn, first come first served. Throws without one when the attempt was stopped meanwhile. */
  const takeTurn = async (lane: Lane, attempt: Attempt): Promise<void> => {
    if (attempt.stop) throw attempt.stop
    if (lane.busy < limits.connectionsMax) {
      lane.busy++
      return
    }
    lane.waiting.push(attempt)
    await new Promise<void>((resolve) => {
      attempt.go = resolve
    })
    attempt.go = null
    const place = lane.waiting.indexOf(attempt)
    if (place === -1) return
    lane.waiting.splice(place, 1)
    throw attempt.stop
  }

  /** Hands the turn to whoever has waited longest, so that nobody can slip in between. */
  const passTurn = (lane: Lane): void => {
    const next = lane.waiting.shift()
    if (next) next.go?.()
    else lane.busy--
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
    const session = await openSession(target, (channel) => {
      attempt.channel = channel
      if (attempt.stop) channel.fail(attempt.stop.message, attempt.stop.diagnosticCode)
    })
    const pooled: Pooled = { session, messages: 0, idleTimer: null }
    session.channel.onEnd(() => forget(lane, pooled))
    return pooled
  }

  /** Keeps a connection for the next message, or ends it. */
  const keep = (lane: Lane, pooled: Pooled): void => {
    const { channel } = pooled.session
    if (isClosed || channel.trouble || pooled.messages >= limits.messagesMax) {
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

  const run = async (lane: Lane, attempt: Attempt, message: Parameters<ClientPool['send']>): Promise<Outcome[]> => {
    await takeTurn(lane, attempt)
    try {
      if (attempt.stop) throw attempt.stop
      // The most recently used one: it is the least likely to have been closed, and the others may run out of idle time.
      const reused = lane.idle.pop()
      if (reused) {
        forget(lane, reused)
        const sent = await sendOver(lane, reused, attempt, message)
        if (!sent.isUntouched || attempt.stop) return sent.outcomes
        // Servers close idle connections as they please, often all at once: the others are of the same age.
        for (const pooled of [...lane.idle]) pooled.session.channel.quit()
      }
      return (await sendOver(lane, await open(lane, message[0], attempt), attempt, message)).outcomes
    } finally {
      passTurn(lane)
    }
  }

  return {
    async send(...message) {
      const [target, envelope] = message
      const key = laneKey(target)
      const lane = lanes.get(key) ?? { key, idle: [], busy: 0, waiting: [] }
      lanes.set(key, lane)
      const attempt: Attempt = { channel: null, stop: isClosed ? new ConnectionTrouble(shuttingDown, '4.3.2') : null, go: null }
      attempts.add(attempt)
      const lateness = `the attempt did not end within ${limits.attemptMs / 1000} s`
      const deadline = setTimeout(() => stop(attempt, lateness, '4.4.7'), limits.attemptMs)
      try {
        return await run(lane, attempt, message)
      } catch (error) {
        if (!(error instanceof ConnectionTrouble)) throw error
        return envelope.recipients.map(() => ({ kind: 'retry', answer: error.message, diagnosticCode: error.diagnosticCode }))
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

const shuttingDown = 'the server is shutting down'

const laneKey = (target: ClientTarget): string =>
  [target.tlsMode, target.tls.serverName, target.tls.verify, target.host, target.port, target.hostname, target.auth?.user ?? ''].join(' ')
