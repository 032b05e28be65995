// The provider that ships: our own mail engine serves the domain, and DNS is the proof.
import { randomBytes } from 'node:crypto'
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import type { Tx } from '../../../core/sql.ts'
import type { DomainRecord, Inspection } from './model.ts'
import { type Finding, judgeMx, judgeTxt, ownRecords } from './own-records.ts'
import { type DomainClaim, type DomainProvider, ProviderError } from './provider.ts'

/** What it needs of DKIM: a key for a domain, with the record that tells its public half. */
export type DomainKeys<Pair> = {
  generateKeyPair: () => Promise<Pair>
  addKey: (tx: Tx, owner: DomainClaim, pair: Pair) => Promise<{ name: string; value: string }>
  removeKeys: (tx: Tx, owner: DomainClaim) => Promise<void>
}

const tokenBytes = 20

/** `mailHost` is the host that takes our mail. */
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

  /** One key at a time: each keeps a thread busy that disk and DNS need too, and whoever registers many has to wait for his own. */
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
