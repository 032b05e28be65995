// The objects of an ACME server and their state machine (RFC 8555 §7.1).
import type { KeyObject } from 'node:crypto'
import { randomBytes } from 'node:crypto'
import type { Issued } from './issuer.ts'
import { type Jwk, Problem } from './jws.ts'

export type Account = { id: string; jwk: Jwk; key: KeyObject; thumbprint: string; status: 'valid' | 'deactivated'; contact: string[] }

export type Challenge = {
  id: string
  type: 'http-01' | 'dns-01'
  token: string
  status: 'pending' | 'processing' | 'valid' | 'invalid'
  error?: object
  validated?: string
}

export type Authorization = {
  id: string
  account: Account
  identifier: string
  isWildcard: boolean
  status: 'pending' | 'valid' | 'invalid' | 'deactivated'
  challenges: Challenge[]
  expiresMs: number
}

export type Order = {
  id: string
  account: Account
  names: string[]
  authorizations: Authorization[]
  replaces: string | null
  /** Set by finalize. `processing` lasts for some reads. */
  processingReads: number
  certificateId: string | null
  isInvalid: boolean
  error?: object
}

export type Certificate = Issued & {
  id: string
  account: Account
  names: string[]
  spki: Buffer
  revokedReason: number | null
  replacedBy: string | null
}

const authorizationMs = 3_600_000
const namePattern = /^(\*\.)?(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})+$/

const newId = (): string => randomBytes(12).toString('base64url')

const newChallenge = (type: Challenge['type']): Challenge => ({
  id: newId(),
  type,
  token: randomBytes(32).toString('base64url'),
  status: 'pending',
})

/** Wildcards can be validated over DNS only (RFC 8555 §7.1.3). */
function newAuthorization(account: Account, name: string): Authorization {
  const isWildcard = name.startsWith('*.')
  return {
    id: newId(),
    account,
    identifier: name.replace(/^\*\./, ''),
    isWildcard,
    status: 'pending',
    challenges: isWildcard ? [newChallenge('dns-01')] : [newChallenge('http-01'), newChallenge('dns-01')],
    expiresMs: Date.now() + authorizationMs,
  }
}

/** The status is derived from the authorizations, finalize and the certificate (RFC 8555 §7.1.6). */
export function statusOf(order: Order): 'pending' | 'ready' | 'processing' | 'valid' | 'invalid' {
  if (order.isInvalid || order.authorizations.some(({ status }) => status === 'invalid' || status === 'deactivated')) return 'invalid'
  if (order.certificateId !== null) return order.processingReads > 0 ? 'processing' : 'valid'
  return order.authorizations.every(({ status }) => status === 'valid') ? 'ready' : 'pending'
}

export function createState(options: { mayIssue: (name: string) => boolean; reusesAuthorizations: boolean }) {
  const accounts = new Map<string, Account>()
  const orders = new Map<string, Order>()
  const authorizations = new Map<string, Authorization>()
  const certificates = new Map<string, Certificate>()

  const find = <T extends { account?: Account }>(all: Map<string, T>, id: string, account: Account | null): T => {
    const found = all.get(id)
    if (!found || (account && found.account && found.account !== account))
      throw new Problem(404, 'malformed', 'no such resource of this account')
    return found
  }

  return {
    accounts,
    orders,
    authorizations,
    certificates,
    findOrder: (id: string, account: Account) => find(orders, id, account),
    findAuthorization: (id: string, account: Account) => find(authorizations, id, account),
    findCertificate: (id: string, account: Account | null) => find(certificates, id, account),
    findByThumbprint: (thumbprint: string) => [...accounts.values()].find((one) => one.thumbprint === thumbprint) ?? null,

    addAccount(fields: Omit<Account, 'id' | 'status'>): Account {
      const account: Account = { ...fields, id: newId(), status: 'valid' }
      accounts.set(account.id, account)
      return account
    },

    /** Checks the names, and makes one authorization each. */
    addOrder(account: Account, identifiers: unknown, replaces: string | null): Order {
      if (!Array.isArray(identifiers) || identifiers.length === 0) throw new Problem(400, 'malformed', 'identifiers are required')
      const names = identifiers.map((one: { type?: unknown; value?: unknown }) => {
        if (one.type !== 'dns') throw new Problem(400, 'unsupportedIdentifier', `identifiers of type ${one.type} are not supported`)
        const name = String(one.value)
        if (!namePattern.test(name)) throw new Problem(400, 'malformed', `${name} is not a domain name in lower case`)
        if (!options.mayIssue(name)) throw new Problem(400, 'rejectedIdentifier', `this authority does not certify ${name}`)
        return name
      })
      const known = (name: string) =>
        options.reusesAuthorizations
          ? [...authorizations.values()].find(
              (one) =>
                one.account === account &&
                one.status === 'valid' &&
                one.expiresMs > Date.now() &&
                one.identifier === name.replace(/^\*\./, '') &&
                one.isWildcard === name.startsWith('*.'),
            )
          : undefined
      const order: Order = {
        id: newId(),
        account,
        names: [...new Set(names)],
        authorizations: [...new Set(names)].map((name) => known(name) ?? newAuthorization(account, name)),
        replaces,
        processingReads: 0,
        certificateId: null,
        isInvalid: false,
      }
      orders.set(order.id, order)
      for (const one of order.authorizations) authorizations.set(one.id, one)
      return order
    },

    addCertificate(fields: Omit<Certificate, 'id' | 'revokedReason' | 'replacedBy'>): Certificate {
      const certificate: Certificate = { ...fields, id: newId(), revokedReason: null, replacedBy: null }
      certificates.set(certificate.id, certificate)
      return certificate
    },
  }
}

export type State = ReturnType<typeof createState>
