// DKIM keys for the domains that mail leaves from: made, told as DNS records, and used to sign.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { generateKeyPairFor, type KeyPair } from '@callsign/mail/authentication/dkim/key-pair'
import { type DkimAlgorithm, type DkimRecord, recordOf } from '@callsign/mail/authentication/dkim/key-publication'
import { type SigningKey, signMessage } from '@callsign/mail/authentication/dkim/signing'
import { batchLoader } from '../../../../core/batch.ts'
import { now } from '../../../../core/clock.ts'
import { newId } from '../../../../core/ids.ts'
import type { Sealing } from '../../../../core/replay.ts'
import type { Database, Sql, Tx } from '../../../../core/sql.ts'
import type { DkimKeyRow, DkimOwner } from './model.ts'
import * as store from './store.ts'

export type Dkim = ReturnType<typeof createDkim>

type Parts = {
  db: Database
  /** Closes private keys for the database. */
  sealing: Sealing
  mailDomain: string
}

const algorithms: readonly DkimAlgorithm[] = ['rsa-sha256', 'ed25519-sha256']
/** Opened private keys that are kept; a key never changes under its id. */
const openedMax = 1000

export function createDkim({ db, sealing, mailDomain }: Parts) {
  const opened = new Map<string, KeyObject>()

  function open(row: DkimKeyRow): KeyObject {
    const known = opened.get(row.id)
    if (known) return known
    const key = createPrivateKey(sealing.open(row.id, row.private_key))
    const oldest = opened.size >= openedMax ? opened.keys().next().value : undefined
    if (oldest !== undefined) opened.delete(oldest)
    opened.set(row.id, key)
    return key
  }

  function toRow(owner: DkimOwner, pair: KeyPair): DkimKeyRow {
    const id = newId('dkimKey')
    return {
      id,
      organization_id: owner.organizationId,
      domain: owner.domain,
      selector: `cs${id.slice(-12)}`,
      algorithm: pair.algorithm,
      public_key: pair.publicKey,
      private_key: sealing.seal(id, pair.privatePem),
      created_at: now(),
    }
  }

  const ownerOf = (organizationId: string, domain: string): DkimOwner =>
    domain === mailDomain ? { organizationId: null, domain } : { organizationId, domain }

  const loadKeys = batchLoader(async (names: string[]) => {
    const owners = names.map((name) => ({ name, ...readOwner(name) }))
    const organizationIds = owners.flatMap(({ organizationId }) => organizationId ?? [])
    const domains = [...new Set(owners.map(({ domain }) => domain))]
    const rows = await store.findKeysOf(db.lookups, domains, [...new Set(organizationIds)])
    return new Map(
      owners.map(({ name, domain, organizationId }) => [
        name,
        rows.filter((row) => row.domain === domain && row.organization_id === organizationId),
      ]),
    )
  })

  async function findSigningKeys(organizationId: string, domain: string): Promise<SigningKey[]> {
    const rows = (await loadKeys(nameOwner(ownerOf(organizationId, domain)))) ?? []
    return rows.map((row) => ({ domain: row.domain, selector: row.selector, algorithm: row.algorithm, privateKey: open(row) }))
  }

  return {
    /** A new key pair, for `addKey`. Made before the transaction, since it takes a while. */
    generateKeyPair: (algorithm: DkimAlgorithm = 'rsa-sha256'): Promise<KeyPair> => generateKeyPairFor(algorithm),

    /** Gives an organization's domain this key, in the caller's transaction. Mail from the domain is signed with it from the commit on. */
    async addKey(tx: Tx, owner: { organizationId: string; domain: string }, pair: KeyPair): Promise<DkimRecord> {
      const row = toRow(owner, pair)
      await store.insertKey(tx, row)
      return recordOf(row)
    },

    /** The records of a domain's keys; the mail domain's with `organizationId: null`. */
    listRecords: async (owner: DkimOwner, sql: Sql = db): Promise<DkimRecord[]> => (await store.findKeys(sql, owner)).map(recordOf),

    /** Takes an organization's domain its keys, in the caller's transaction. */
    removeKeys: (tx: Tx, owner: { organizationId: string; domain: string }): Promise<void> => store.deleteKeys(tx, owner),

    /** Makes the mail domain's keys unless it has them. Nodes that do it at once agree. */
    async ensureMailDomainKeys(): Promise<void> {
      const owner = { organizationId: null, domain: mailDomain }
      const present = new Set((await store.findKeys(db, owner)).map((row) => row.algorithm))
      const pairs = await Promise.all(algorithms.filter((algorithm) => !present.has(algorithm)).map(generateKeyPairFor))
      for (const pair of pairs) await store.insertKey(db, toRow(owner, pair))
    },

    /** The keys that sign mail from this address: those of its domain, none when it has none. A key of another organization never, even for the same name. */
    findSigningKeys: (organizationId: string, fromAddress: string): Promise<SigningKey[]> =>
      findSigningKeys(organizationId, fromAddress.slice(fromAddress.lastIndexOf('@') + 1).toLowerCase()),

    /** The message with a signature for each key; as it is without keys. Nothing may change the bytes afterwards. */
    sign: signMessage,
  }
}

/** An owner as one text, to be looked up together with others. A domain holds no space. */
const nameOwner = ({ organizationId, domain }: DkimOwner): string => `${domain} ${organizationId ?? ''}`

function readOwner(name: string): DkimOwner {
  const [domain = '', organizationId] = name.split(' ')
  return { organizationId: organizationId || null, domain }
}
