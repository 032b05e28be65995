// Orders certificates from an authority over ACME (RFC 8555). The only file that uses acme-client.
import { Agent } from 'node:https'
import { getCACertificates } from 'node:tls'
import type { Authorization, Client, Order } from 'acme-client'
import type { Certificate } from '../../core/certificate.ts'
import { nowMs } from '../../core/clock.ts'
import type { RenewalWindow } from '../../core/renewal.ts'

/** Publishes the answer to a challenge. Resolves with the function that removes it. */
export type Solver = {
  type: 'http-01' | 'dns-01'
  present(identifier: string, token: string, keyAuthorization: string): Promise<() => Promise<void>>
}

export type AuthorityOptions = {
  directoryUrl: string
  accountKey: string
  /** The account's URL, when it exists already. */
  accountUrl: string | null
  email: string | null
  externalAccount: { kid: string; hmacKey: string } | null
  /** PEM roots to trust in addition to the system's. */
  roots: string | null
  userAgent: string
}

export interface Authority {
  /** The account's URL. Creates the account if it does not exist. */
  openAccount(): Promise<string>
  /** Orders a certificate for one name with a new key. `replaces` is the renewal id of the one before. */
  order(name: string, solver: Solver, replaces: string | null, signal: AbortSignal): Promise<Certificate>
  /** The suggested time for the renewal of this certificate, and when to look again. Null when the authority suggests none. */
  findRenewal(renewalId: string): Promise<{ window: RenewalWindow; againInMs: number } | null>
}

/** An error that the authority answered with (RFC 8555 §6.7). */
export class AcmeProblem extends Error {
  override name = 'AcmeProblem'
  /** The last part of the problem's type, such as `rateLimited`, or the status of another answer. */
  readonly type: string
  readonly retryAfterMs: number

  constructor(type: string, detail: string, retryAfterMs: number) {
    super(`${type}: ${detail}`)
    this.type = type
    this.retryAfterMs = retryAfterMs
  }
}

const requestMs = 30_000
const errorPrefix = 'urn:ietf:params:acme:error:'
const pollMsMin = 500
const pollMsMax = 10_000
const orderMsMax = 600_000
const defaultAriMs = 6 * 3_600_000
const ariMsMax = 24 * 3_600_000

type Library = typeof import('acme-client')
let loading: Promise<Library> | null = null

/** Loaded on the first use, because it needs 20 MB. */
const loadLibrary = (): Promise<Library> => {
  loading ??= import('acme-client').then(({ default: library }) => {
    const acme = library as unknown as Library
    // The library would wait for hours inside of a request. Our own schedule repeats orders.
    Object.assign(acme.axios.defaults, { timeout: requestMs, acmeSettings: { retryMaxAttempts: 0, retryDefaultDelay: 0 } })
    acme.axios.interceptors.response.use((response) => {
      const { status, data, headers } = response as {
        status: number
        data: { type?: string; detail?: string }
        headers: Record<string, string>
      }
      const type = data?.type?.replace(errorPrefix, '') ?? String(status)
      // The library repeats a request with a used nonce itself.
      if (status < 400 || type === 'badNonce') return response
      throw new AcmeProblem(type, data?.detail ?? `the authority answered ${status}`, readRetryAfter(headers['retry-after']))
    })
    return acme
  })
  return loading
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3) in milliseconds from now. 0 without either. */
export function readRetryAfter(value: string | undefined): number {
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs())
}

/** The key of a new account, as PEM. */
export const newAccountKey = async (): Promise<string> => (await (await loadLibrary()).crypto.createPrivateEcdsaKey('P-256')).toString()

export async function createAuthority(options: AuthorityOptions): Promise<Authority> {
  const acme = await loadLibrary()
  const { directoryUrl, accountKey, accountUrl, email, externalAccount, roots, userAgent } = options
  if (roots !== null) acme.axios.defaults.httpsAgent = new Agent({ ca: [...getCACertificates('default'), roots] })
  Object.assign(acme.axios.defaults.headers.common, { 'User-Agent': userAgent })
  const client = new acme.Client({
    directoryUrl,
    accountKey,
    ...(accountUrl === null ? {} : { accountUrl }),
    ...(externalAccount === null ? {} : { externalAccountBinding: externalAccount }),
  })

  return {
    async openAccount() {
      if (accountUrl !== null) return accountUrl
      await client.createAccount({ termsOfServiceAgreed: true, ...(email === null ? {} : { contact: [`mailto:${email}`] }) })
      return client.getAccountUrl()
    },

    async order(name, solver, replaces, signal) {
      const created = await createOrder(client, name, replaces)
      const ready = await authorize(client, created, solver, signal)
      const key = await acme.crypto.createPrivateEcdsaKey('P-256')
      const [, csr] = await acme.crypto.createCsr({ altNames: [name] }, key)
      if (ready.status === 'ready') await client.finalizeOrder(ready, csr)
      const valid = await waitWhile(client, ready, ['ready', 'processing'], signal)
      return { cert: await client.getCertificate(valid), key: key.toString() }
    },

    async findRenewal(renewalId) {
      const directory = (await acme.axios.get<{ renewalInfo?: string }>(directoryUrl)).data
      if (directory.renewalInfo === undefined) return null
      const { data, headers } = await acme.axios.get<{ suggestedWindow?: { start?: string; end?: string } }>(
        `${directory.renewalInfo}/${renewalId}`,
      )
      const [startMs, endMs] = [Date.parse(data.suggestedWindow?.start ?? ''), Date.parse(data.suggestedWindow?.end ?? '')]
      if (!(startMs < endMs)) return null
      const againInMs = Math.min(readRetryAfter(headers['retry-after'] as string | undefined) || defaultAriMs, ariMsMax)
      return { window: { startMs, endMs }, againInMs }
    },
  }
}

/** An authority that has replaced the certificate already, or does not know it, gets the order without the hint. */
async function createOrder(client: Client, name: string, replaces: string | null): Promise<Order> {
  const data = { identifiers: [{ type: 'dns', value: name }] }
  if (replaces === null) return client.createOrder(data)
  try {
    return await client.createOrder({ ...data, replaces } as typeof data)
  } catch (error) {
    if (!(error instanceof AcmeProblem) || error.type === 'rateLimited' || error.retryAfterMs > 0) throw error
    return client.createOrder(data)
  }
}

/** Answers the challenges. Resolves with an order that is ready, and removes the answers in any case. */
async function authorize(client: Client, order: Order, solver: Solver, signal: AbortSignal): Promise<Order> {
  const removals: (() => Promise<void>)[] = []
  try {
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status !== 'pending') continue
      const challenge = authorization.challenges.find(({ type }) => type === solver.type)
      if (!challenge) throw new Error(`the authority does not offer ${solver.type} for ${authorization.identifier.value}`)
      const answer = await client.getChallengeKeyAuthorization(challenge)
      removals.push(await solver.present(authorization.identifier.value, challenge.token, answer))
      await client.completeChallenge(challenge)
    }
    return await waitWhile(client, order, ['pending'], signal)
  } finally {
    await Promise.allSettled(removals.map((remove) => remove()))
  }
}

/** Reads the order until its status is another one. Throws when the order became invalid. */
async function waitWhile(client: Client, order: Order, statuses: Order['status'][], signal: AbortSignal): Promise<Order> {
  const deadlineMs = performance.now() + orderMsMax
  for (let pauseMs = pollMsMin; ; pauseMs = Math.min(pauseMs * 2, pollMsMax)) {
    const now = await client.getOrder(order)
    if (now.status === 'invalid') throw await reasonOf(client, now)
    if (!statuses.includes(now.status)) return now
    if (performance.now() > deadlineMs) throw new Error(`the order was still ${now.status} after ${orderMsMax / 1000} seconds`)
    await pause(pauseMs, signal)
  }
}

/** The problem of the challenge that failed, or of the order. */
async function reasonOf(client: Client, order: Order): Promise<Error> {
  type Problem = { type?: string; detail?: string }
  const authorizations: Authorization[] = await client.getAuthorizations(order).catch(() => [])
  const challenges = authorizations.flatMap((one) => one.challenges)
  const problem = (challenges.find(({ error }) => error)?.error ?? order.error ?? {}) as Problem
  return new AcmeProblem(problem.type?.replace(errorPrefix, '') ?? 'invalid', problem.detail ?? 'the order became invalid', 0)
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
