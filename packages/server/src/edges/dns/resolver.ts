// DNS through the system's resolvers or the configured ones, with a time limit per question.
import { Resolver as SystemResolver } from 'node:dns/promises'
import { type DnsAnswer, type Resolver, reverseName } from '@callsign/mail/dns'

/** c-ares errors about the name. All other errors are about the servers. */
const noName = new Set(['ENOTFOUND', 'EBADNAME', 'EBADQUERY'])
const noData = 'ENODATA'
const silent = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED'])

/** Whole names take 253 octets without the last dot, labels 63 (RFC 1035 §2.3.4). */
const nameLengthMax = 253
const labelLengthMax = 63

export type DnsSettings = {
  /** Addresses, each with an optional port. An empty list selects the system's. */
  servers: string[]
  /** Time limit for one question with all its retries and servers. */
  timeoutMs?: number
}

/** A resolver. Names are complete, without search domains and the hosts file. It holds no socket between questions. */
export function createDnsResolver({ servers, timeoutMs = 5_000 }: DnsSettings): Resolver {
  // The first try leaves time for a second one, because UDP packets get lost.
  const system = new SystemResolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2, maxTimeout: timeoutMs })
  if (servers.length > 0) system.setServers(servers)

  async function ask<Raw, T>(name: string, question: (name: string) => Promise<Raw[]>, read: (raw: Raw) => T): Promise<DnsAnswer<T>> {
    if (!isName(name)) return { kind: 'no-name' }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<DnsAnswer<T>>((resolve) => {
      timer = setTimeout(() => resolve({ kind: 'failure', reason: `no answer within ${timeoutMs} ms`, isSilence: true }), timeoutMs)
    })
    const answer = question(name).then(
      (raw): DnsAnswer<T> => (raw.length > 0 ? { kind: 'found', records: raw.map(read) } : { kind: 'no-data' }),
      (error: NodeJS.ErrnoException): DnsAnswer<T> => {
        const code = error.code ?? 'unknown'
        if (noName.has(code)) return { kind: 'no-name' }
        return code === noData ? { kind: 'no-data' } : { kind: 'failure', reason: code, isSilence: silent.has(code) }
      },
    )
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  const same = (record: string): string => record
  return {
    txt: (name) =>
      ask(
        name,
        (asked) => system.resolveTxt(asked),
        (strings) => strings.join(''),
      ),
    mx: (name) =>
      ask(
        name,
        (asked) => system.resolveMx(asked),
        ({ exchange, priority }) => ({ exchange, preference: priority }),
      ),
    a: (name) => ask(name, (asked) => system.resolve4(asked), same),
    aaaa: (name) => ask(name, (asked) => system.resolve6(asked), same),
    cname: (name) => ask(name, (asked) => system.resolveCname(asked), same),
    ptr: async (addressOrName) => {
      const name = /\.arpa\.?$/i.test(addressOrName) ? addressOrName : reverseName(addressOrName)
      return name === null ? { kind: 'no-name' } : ask(name, (asked) => system.resolvePtr(asked), same)
    },
  }
}

/**
 * True for a name that can be sent in a question. Underscores and non-ASCII bytes occur in practice. NUL and blanks could only confuse a
 * parser.
 */
export function isName(name: string): boolean {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  return (
    bare !== '' &&
    bare.length <= nameLengthMax &&
    /^[!-~]+$/.test(bare) &&
    bare.split('.').every((label) => label !== '' && label.length <= labelLengthMax)
  )
}
