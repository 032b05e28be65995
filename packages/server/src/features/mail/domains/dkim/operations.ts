// DKIM keys of sending domains: generates them, lists their DNS records and signs with them.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { generateKeyPairFor, type KeyPair } from '@callsign/mail/authentication/dkim/key-pair'
import { type DkimAlgorithm, type DkimRecord, recordOf } from '@callsign/mail/authentication/dkim/key-publication'
import type { SigningKey } from '@callsign/mail/authentication/dkim/signing'
import { batchLoader } from '../../../../core/batch.ts'
import { now } from '../../../../core/clock.ts'
import { newId } from '../../../../core/ids.ts'
import type { Sealing } from '../../../../core/replay.ts'
import type { Database, Sql, Tx } from '../../../../core/sql.ts'
import type { DkimKeyRow, DkimOwner } from './model.ts'
import * as store from './store.ts'

type OwnDomain = { organizationId: string; domain: string }

/** DKIM keys of sending domains. */
export interface Dkim {
  /** Generates a key pair for `addKey`, by default RSA. Slow, so call it before the transaction. */
  generateKeyPair(algorithm?: DkimAlgorithm): Promise<KeyPair>
  /** Adds a key to an organization's domain, in the caller's transaction. Mail from the domain is signed with it after the commit. */
  addKey(tx: Tx, owner: OwnDomain, pair: KeyPair): Promise<DkimRecord>
  /** The DNS records of a domain's keys. `organizationId: null` stands for the mail domain. */
  listRecords(owner: DkimOwner, sql?: Sql): Promise<DkimRecord[]>
  /** Deletes the keys of an organization's domain, in the caller's transaction. */
  removeKeys(tx: Tx, owner: OwnDomain): Promise<void>
  /** Creates missing keys of the mail domain. Safe on several nodes at once. */
  ensureMailDomainKeys(): Promise<void>
  /** The signing keys for a From address: those of its domain, never those of another organization with the same name. */
  findSigningKeys(organizationId: string, fromAddress: string): Promise<SigningKey[]>
}

type Parts = {
  db: Database
  /** Encrypts private keys for the database. */
  sealing: Sealing
  mailDomain: string
}

const algorithms: readonly DkimAlgorithm[] = ['rsa-sha256', 'ed25519-sha256']
/** Cached decrypted keys. A key never changes under its id. */
const openedMax = 1000

export function createDkim({ db, sealing, mailDomain }: Parts): Dkim {
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
    const rows = await store.findKeysOf(db, domains, [...new Set(organizationIds)])
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
    generateKeyPair: (algorithm: DkimAlgorithm = 'rsa-sha256'): Promise<KeyPair> => generateKeyPairFor(algorithm),

    async addKey(tx: Tx, owner: OwnDomain, pair: KeyPair): Promise<DkimRecord> {
      const row = toRow(owner, pair)
      await store.insertKey(tx, row)
      return recordOf(row)
    },

    listRecords: async (owner: DkimOwner, sql: Sql = db): Promise<DkimRecord[]> => (await store.findKeys(sql, owner)).map(recordOf),

    removeKeys: (tx, owner) => store.deleteKeys(tx, owner),

    async ensureMailDomainKeys(): Promise<void> {
      const owner = { organizationId: null, domain: mailDomain }
      const present = new Set((await store.findKeys(db, owner)).map((row) => row.algorithm))
      const pairs = await Promise.all(algorithms.filter((algorithm) => !present.has(algorithm)).map(generateKeyPairFor))
      for (const pair of pairs) await store.insertKey(db, toRow(owner, pair))
    },

    findSigningKeys: (organizationId: string, fromAddress: string): Promise<SigningKey[]> =>
      findSigningKeys(organizationId, fromAddress.slice(fromAddress.lastIndexOf('@') + 1).toLowerCase()),
  }
}

/** An owner as a batch key. A domain cannot contain a space. */
const nameOwner = ({ organizationId, domain }: DkimOwner): string => `${domain} ${organizationId ?? ''}`

function readOwner(name: string): DkimOwner {
  const [domain = '', organizationId] = name.split(' ')
  return { organizationId: organizationId || null, domain }
}
