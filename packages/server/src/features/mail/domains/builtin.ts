// The built-in provider: this server's mail engine serves the domain, and DNS records prove its ownership.
import { randomBytes } from 'node:crypto'
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import type { Tx } from '../../../core/sql.ts'
import type { DomainRecord, Inspection } from './model.ts'
import { type Finding, judgeMx, judgeTxt, ownRecords } from './own-records.ts'
import { type DomainClaim, type DomainProvider, ProviderError } from './provider.ts'

/** DKIM keys for domains, each with the record that publishes its public half. */
export type DomainKeys<Pair> = {
  generateKeyPair: () => Promise<Pair>
  addKey: (tx: Tx, owner: DomainClaim, pair: Pair) => Promise<{ name: string; value: string }>
  removeKeys: (tx: Tx, owner: DomainClaim) => Promise<void>
}

const tokenBytes = 20

/** `mailHost` is the host that receives this server's mail. */
export function createBuiltinProvider<Pair>({
  keys,
  dns,
  mailHost,
}: {
  keys: DomainKeys<Pair>
  dns: Resolver
  mailHost: string
}): DomainProvider {
  function answered<T>(record: DomainRecord, answer: DnsAnswer<T>): DnsAnswer<T> {
    if (answer.kind === 'failure')
      throw new ProviderError(`DNS could not be asked for ${record.type} ${record.name}: ${answer.reason}. Nothing has changed.`)
    return answer
  }

  const judge = async (record: DomainRecord): Promise<Finding> =>
    record.type === 'MX'
      ? judgeMx(record, answered(record, await dns.mx(record.name)))
      : judgeTxt(record, answered(record, await dns.txt(record.name)))

  /** Generates one key at a time. Each occupies a thread of the pool that disk and DNS share, so that bulk registration delays only itself. */
  let lastKey: Promise<unknown> = Promise.resolve()
  function generateInTurn(): Promise<Pair> {
    const pair = lastKey.then(() => keys.generateKeyPair())
    lastKey = pair.catch(() => {})
    return pair
  }

  return {
    name: 'builtin',
    isElsewhere: false,

    async register(claim) {
      // Before the transaction: an RSA key takes a tenth of a second.
      const pair = await generateInTurn()
      const token = randomBytes(tokenBytes).toString('hex')
      return {
        providerDomainId: null,
        isVerified: false,
        keep: async (tx) => ownRecords(claim.domain, { mailHost, token, dkim: await keys.addKey(tx, claim, pair) }),
      }
    },

    async inspect({ records }): Promise<Inspection> {
      const findings = await Promise.all(records.map(judge))
      const found = records.map((record, index) => ({ ...record, status: (findings[index] as Finding).status }))
      const isComplete = found.every((record) => record.status === 'valid' || !record.required)
      return { verdict: isComplete ? 'verified' : 'incomplete', records: found, notes: findings.map((finding) => finding.note) }
    },

    forget: (tx, claim) => keys.removeKeys(tx, claim),
    unregister: async () => {},
  }
}
