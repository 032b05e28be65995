// Orders and renews certificates, one process at a time, and finds those that another process has renewed.
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Certificate } from '../../core/certificate.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import type { DueCertificate, IssuedCertificate, IssuedCertificates, OrderLease } from '../../core/issued-certificates.ts'
import type { Log } from '../../core/log.ts'
import { checkIssued, expiryMs, renewalAtMs, renewalId, retryInMs } from '../../core/renewal.ts'
import { AcmeProblem, type Authority, type Solver } from './authority.ts'

export type RenewalsOptions = {
  store: IssuedCertificates
  names: string[]
  directoryUrl: string
  newAccountKey: () => Promise<string>
  openAuthority: (account: { accountKey: string; accountUrl: string | null }) => Promise<Authority>
  solverFor: (name: string) => Solver
  ordersPerDay: number
  /** Delays after failures in a row. The last one repeats. */
  retrySeconds: number[]
  checkMs: number
  /** False for a process that only uses certificates. */
  isOrdering: boolean
  businessEvents: BusinessEvents
  log: Log
}

export interface Renewals {
  /** The certificate of a name, or null before the first one. */
  find(name: string): IssuedCertificate | null
  onChange(listener: () => void): void
  /** Reads the certificates that exist. */
  load(): Promise<void>
  /** Starts to check. The listeners must be open, because the authority connects to them. */
  start(): void
  /** Ends the checks. An order in progress is dropped and due again at the next start. */
  stop(): Promise<void>
}

const leaseMs = 120_000
const dayMs = 86_400_000
/** A request to the authority, or a program for DNS, may take longer than a stop should. */
const stopMsMax = 2_000

export function createRenewals(options: RenewalsOptions): Renewals {
  const { store, names, directoryUrl, solverFor, businessEvents, log } = options
  const issued = new Map<string, IssuedCertificate>()
  const listeners: (() => void)[] = []
  /** When to ask the authority again for the time to renew, by name. */
  const askAtMs = new Map<string, number>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function load(): Promise<void> {
    const found = await store.list(names)
    const changed = found.filter((one) => issued.get(one.name)?.issuedAt.getTime() !== one.issuedAt.getTime())
    for (const one of changed) issued.set(one.name, one)
    if (changed.length > 0) for (const listener of listeners) listener()
  }

  async function openAuthority(): Promise<Authority> {
    const account = await store.account(directoryUrl, options.newAccountKey)
    const authority = await options.openAuthority({ accountKey: account.key, accountUrl: account.url })
    const url = await authority.openAccount()
    if (url !== account.url) await store.saveAccountUrl(directoryUrl, url)
    return authority
  }

  async function order(lease: OrderLease, due: DueCertificate): Promise<void> {
    const { name, current, failures } = due
    if (!(await store.countOrder(name, options.ordersPerDay))) {
      log.warn({ name, limit: options.ordersPerDay }, 'no more orders of this certificate today (CALLSIGN_ACME_ORDERS_PER_DAY)')
      return store.postpone(lease, name, new Date(Math.ceil(nowMs() / dayMs) * dayMs), null)
    }
    try {
      const authority = await openAuthority()
      const pair = await authority.order(name, solverFor(name), current && renewalId(current.cert), stopping.signal)
      checkIssued(pair.cert, pair.key, name, nowMs())
      await keep(lease, name, pair)
    } catch (error) {
      if (stopping.signal.aborted) return
      // The authority has deleted the account. The next attempt creates it again.
      if (error instanceof AcmeProblem && error.type === 'accountDoesNotExist') await store.saveAccountUrl(directoryUrl, null)
      const delayMs = retryInMs(failures, options.retrySeconds, error instanceof AcmeProblem ? error.retryAfterMs : 0, Math.random())
      const expires = current && new Date(expiryMs(current.cert)).toISOString()
      log.error({ err: error, name, expires, retry_in_seconds: Math.round(delayMs / 1000) }, 'ordering a certificate failed')
      businessEvents.certificateOrdered({ name, outcome: 'failed' })
      await store.postpone(lease, name, inMs(delayMs), (error as Error).message.slice(0, 1000))
    }
  }

  async function keep(lease: OrderLease, name: string, pair: Certificate): Promise<void> {
    const dueAt = new Date(renewalAtMs(pair.cert, null, Math.random()))
    if (!(await store.save(lease, { ...pair, name, issuedAt: now() }, dueAt))) {
      log.warn({ name }, 'a certificate was dropped, because another process orders certificates meanwhile')
      return
    }
    businessEvents.certificateOrdered({ name, outcome: 'issued' })
    log.info({ name, expires: new Date(expiryMs(pair.cert)).toISOString(), due: dueAt.toISOString() }, 'a certificate was issued')
    askAtMs.set(name, nowMs())
    await load()
  }

  /** Moves renewals to the time that the authority suggests (RFC 9773). */
  async function askForTimes(lease: OrderLease): Promise<void> {
    const asked = namesToAsk()
    if (asked.length === 0) return
    const authority = await openAuthority()
    for (const name of asked) {
      askAtMs.set(name, nowMs() + dayMs)
      const { cert } = issued.get(name) as IssuedCertificate
      const id = renewalId(cert)
      const renewal = id && (await authority.findRenewal(id))
      if (!renewal) continue
      askAtMs.set(name, nowMs() + renewal.againInMs)
      await store.reschedule(lease, name, new Date(renewalAtMs(cert, renewal.window, Math.random())))
    }
  }

  const namesToAsk = (): string[] => [...issued.keys()].filter((name) => nowMs() >= (askAtMs.get(name) ?? 0))

  async function check(): Promise<void> {
    await load()
    if (!options.isOrdering) return
    if ((await store.findDue(names)).length === 0 && namesToAsk().length === 0) return
    await store.account(directoryUrl, options.newAccountKey)
    const lease = await store.lease(directoryUrl, leaseMs)
    if (!lease) return
    const renewing = setInterval(() => void store.renewLease(lease, leaseMs).catch(() => {}), leaseMs / 3)
    try {
      await askForTimes(lease).catch((err) => log.warn({ err }, 'asking the authority for the time to renew failed'))
      for (const due of await store.findDue(names)) {
        if (stopping.signal.aborted || !(await store.renewLease(lease, leaseMs))) return
        await order(lease, due)
      }
    } finally {
      clearInterval(renewing)
      await store.endLease(lease).catch(() => {})
    }
  }

  const loop = (): void => {
    running = check()
      .catch((err) => {
        if (!stopping.signal.aborted) log.error({ err }, 'checking the certificates failed')
      })
      .then(() => {
        if (!stopping.signal.aborted) timer = setTimeout(loop, options.checkMs)
      })
  }

  return {
    find: (name) => issued.get(name) ?? null,
    onChange: (listener) => void listeners.push(listener),
    async load() {
      if (options.isOrdering) await store.ensure(names, directoryUrl)
      await load()
    },
    start: loop,
    async stop() {
      stopping.abort(new Error('the server stops'))
      clearTimeout(timer)
      let late: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => {
        late = setTimeout(resolve, stopMsMax)
      })
      await Promise.race([running, limit])
      clearTimeout(late)
    },
  }
}
