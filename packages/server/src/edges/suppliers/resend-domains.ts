// Custom domains at Resend, over its HTTP API (https://resend.com/docs/api-reference/domains). Resend sends for them and checks their DNS
// itself.
import { setTimeout as wait } from 'node:timers/promises'
import type { DomainRecord, Inspection } from '../../features/mail/domains/model.ts'
import { type DomainProvider, NameTaken, ProviderError } from '../../features/mail/domains/provider.ts'

export type ResendSettings = {
  apiKey: string
  /** Without a trailing slash. */
  baseUrl: string
  userAgent: string
  /** Time limit of one request including its answer. */
  timeoutMs?: number
  /** Delays between polls of a verification in progress. */
  pollMs?: readonly number[]
}

type Json = Record<string, unknown>
type Upstream = { id: string; name: string; status: string; createdAt: Date; records: DomainRecord[] }
type Answer = { status: number; body: Json }

const answerBytesMax = 1024 * 1024
/** Resend limits requests per second. A throttled request is retried this often, each time after a delay with a maximum. */
const throttledTriesMax = 3
const throttledMsMax = 3000
/** Allowed difference of clocks. A registration older than the attempt by more than this is not its result. */
const skewMs = 5 * 60_000
const pagesMax = 50
const noteCharactersMax = 200

const recordStatuses: Record<string, DomainRecord['status']> = { verified: 'valid', failed: 'failed', temporary_failure: 'failed' }
const recordTypes = ['MX', 'TXT', 'CNAME'] as const

const unreadable = () => new ProviderError('Resend gave an answer that could not be read.', { isOutcomeUnknown: true })
const text = (value: unknown): string => {
  // Values that neither the database nor a DNS record can store make the answer invalid.
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) throw unreadable()
  return value
}

/** The provider `resend`. */
export function createResendProvider(settings: ResendSettings): DomainProvider {
  const { apiKey, baseUrl, userAgent, timeoutMs = 10_000, pollMs = [250, 500, 1000, 2000, 3000] } = settings

  /** One request. Returns any answer except a 5xx. */
  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json): Promise<Answer> {
    // Loaded at the first request, because it takes 6 MB.
    const { request } = await import('undici')
    for (let tries = 1; ; tries++) {
      let answer: Answer & { retryAfter: number }
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const headers = {
          authorization: `Bearer ${apiKey}`,
          'user-agent': userAgent,
          ...(body ? { 'content-type': 'application/json' } : {}),
        }
        const response = await request(`${baseUrl}${path}`, { method, headers, signal, ...(body ? { body: JSON.stringify(body) } : {}) })
        const bytes = await readBounded(response.body)
        answer = { status: response.statusCode, body: parse(bytes), retryAfter: Number(response.headers['retry-after']) }
      } catch (cause) {
        if (cause instanceof ProviderError) throw cause
        throw new ProviderError('Resend could not be reached.', { isOutcomeUnknown: true, cause })
      }
      if (answer.status === 429 && tries < throttledTriesMax) {
        const seconds = Number.isFinite(answer.retryAfter) ? answer.retryAfter : 1
        await wait(Math.min(throttledMsMax, Math.max(0, seconds * 1000)))
        continue
      }
      if (answer.status === 429) throw new ProviderError('Resend is throttling requests right now. Try again in a minute.')
      if (answer.status >= 500) throw new ProviderError(`Resend failed with HTTP status ${answer.status}.`, { isOutcomeUnknown: true })
      return answer
    }
  }

  const refused = ({ status, body }: Answer): ProviderError => {
    const message = typeof body.message === 'string' ? `: ${body.message.replace(/[^ -~]/g, ' ').slice(0, noteCharactersMax)}` : ''
    return new ProviderError(`Resend refused with HTTP status ${status}${message}`)
  }

  async function get(id: string): Promise<Upstream | null> {
    const answer = await ask('GET', `/domains/${encodeURIComponent(id)}`)
    if (answer.status === 404) return null
    if (answer.status !== 200) throw refused(answer)
    return toUpstream(answer.body)
  }

  /** The id of a name registered with this key's account, or null. */
  async function findByName(name: string): Promise<string | null> {
    let after = ''
    for (let page = 0; page < pagesMax; page++) {
      const answer = await ask('GET', `/domains?limit=100${after ? `&after=${encodeURIComponent(after)}` : ''}`)
      if (answer.status !== 200) throw refused(answer)
      if (!Array.isArray(answer.body.data)) throw unreadable()
      const items = answer.body.data as Json[]
      const found = items.find((item) => item.name === name)
      if (found) return text(found.id)
      const last = items.at(-1)
      if (answer.body.has_more !== true || !last) return null
      after = text(last.id)
    }
    return null
  }

  /** The registration of an earlier attempt whose answer was lost. Any other registration belongs to another party. */
  async function takeOver(domain: string, triedAt: Date | null, refusal: Answer): Promise<Upstream> {
    const id = await findByName(domain)
    const known = id === null ? null : await get(id)
    if (known && triedAt && known.createdAt.getTime() >= triedAt.getTime() - skewMs) return known
    if (known) throw new NameTaken(`${domain} is registered at Resend with this server's account already.`)
    if (/\balready\b/i.test(String(refusal.body.message))) throw new NameTaken(`${domain} is registered at Resend by another account.`)
    throw refused(refusal)
  }

  /** Polls until the requested verification has ended, or until the time that a caller can wait is over. */
  async function awaitVerdict(id: string): Promise<Upstream | null> {
    for (const ms of pollMs) {
      const known = await get(id)
      if (known?.status !== 'pending') return known
      await wait(ms)
    }
    return get(id)
  }

  return {
    name: 'resend',
    isElsewhere: true,

    async register({ domain }, triedAt) {
      const answer = await ask('POST', '/domains', { name: domain })
      if (answer.status === 401 || answer.status === 404) throw refused(answer)
      const known = answer.status < 300 ? toUpstream(answer.body) : await takeOver(domain, triedAt, answer)
      return { providerDomainId: known.id, isVerified: known.status === 'verified', keep: async () => known.records }
    },

    async inspect({ providerDomainId, records }, isAsked): Promise<Inspection> {
      const id = providerDomainId ?? ''
      if (isAsked) {
        const answer = await ask('POST', `/domains/${encodeURIComponent(id)}/verify`)
        if (answer.status !== 404 && answer.status >= 300) throw refused(answer)
      }
      const known = isAsked ? await awaitVerdict(id) : await get(id)
      if (!known) {
        const gone = records.map((record) => ({ ...record, status: 'failed' as const }))
        return { verdict: 'incomplete', records: gone, notes: gone.map(() => 'the domain is not registered at Resend any more') }
      }
      const verdict = known.status === 'verified' ? 'verified' : known.status === 'pending' ? 'undecided' : 'incomplete'
      return { verdict, records: known.records, notes: known.records.map(() => null) }
    },

    forget: async () => {},

    async unregister(providerDomainId) {
      const answer = await ask('DELETE', `/domains/${encodeURIComponent(providerDomainId)}`)
      if (answer.status !== 404 && answer.status >= 300) throw refused(answer)
    },
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > answerBytesMax) throw unreadable()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** An object. Anything else, such as a proxy's page, becomes an empty one, and the status decides. */
function parse(bytes: Buffer): Json {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
  } catch {
    return {}
  }
}

function toUpstream(body: Json): Upstream {
  const createdAt = new Date(text(body.created_at))
  if (!Array.isArray(body.records) || Number.isNaN(createdAt.getTime())) throw unreadable()
  const records = (body.records as Json[]).flatMap((record) => toRecord(record))
  return { id: text(body.id), name: text(body.name), status: text(body.status), createdAt, records }
}

/** Copies name and value as Resend returns them, because the owner enters them unchanged. Drops record types that the API does not have. */
function toRecord(record: Json): DomainRecord[] {
  const type = recordTypes.find((known) => known === record.type)
  if (!type) return []
  const { priority } = record
  return [
    {
      type,
      name: text(record.name),
      value: text(record.value),
      ...(Number.isInteger(priority) ? { priority: priority as number } : {}),
      status: recordStatuses[text(record.status)] ?? 'pending',
      purpose: text(record.record),
      required: true,
    },
  ]
}
