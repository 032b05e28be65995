// The resources of an ACME server: what each signed request does, and what it is answered with (RFC 8555 §7).
import { createPublicKey } from 'node:crypto'
import type { Issuer } from './issuer.ts'
import { checkBinding, type Jwk, keyOf, Problem, readParts, type SignedRequest, thumbprintOf } from './jws.ts'
import { type Account, type Authorization, type Certificate, type Challenge, type Order, type State, statusOf } from './state.ts'
import type { Validator } from './validation.ts'

/** Faults for the next requests, which tests set. */
export type Faults = {
  /** Number of signed requests that get badNonce. */
  badNonces: number
  /** Answer to new orders, with Retry-After in seconds. */
  rateLimitSeconds: number | null
  /** Number of signed requests that get 503. */
  outages: number
  /** Reads for which an order is `processing` after finalize. */
  processingReads: number
}

export type Reply = { status: number; body?: object | string; headers?: Record<string, string> }
type Handler = (request: SignedRequest, account: Account, ids: string[]) => Reply | Promise<Reply>

/** `externalKeys` are the keys that new accounts have to be bound to, by key id. */
export type Settings = { lifetimeMs: number; externalKeys: Record<string, string> | null }

export type RenewalWindow = { startMs: number; endMs: number }

type Parts = {
  base: string
  state: State
  issuer: Issuer
  validator: Validator
  faults: Faults
  settings: Settings
  /** Suggested times for renewals, by the first name of a certificate. */
  windows: Map<string, RenewalWindow>
  requiresTerms: boolean
}

export const terms = 'https://authority.test/terms'
const revocationReasons = [0, 1, 3, 4, 5]
const retryAfterSeconds = '1'

export const problemBody = ({ type, message, status, more }: Problem) => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail: message,
  status,
  ...more,
})

export function createHandlers({ base, state, issuer, validator, faults, settings, windows, requiresTerms }: Parts) {
  const accountUrl = ({ id }: Account) => `${base}/account/${id}`
  const orderUrl = ({ id }: Order) => `${base}/order/${id}`

  const showAccount = (account: Account) => ({ status: account.status, contact: account.contact, orders: `${accountUrl(account)}/orders` })
  const showChallenge = ({ id, ...challenge }: Challenge, one: Authorization) => ({
    ...challenge,
    url: `${base}/challenge/${one.id}/${id}`,
  })
  const showAuthorization = (one: Authorization) => ({
    identifier: { type: 'dns', value: one.identifier },
    status: one.status,
    expires: new Date(one.expiresMs).toISOString(),
    // After a decision only the challenge that brought it is left (RFC 8555 §7.1.4).
    challenges: one.challenges
      .filter(({ status }) => one.status === 'pending' || status === one.status)
      .map((each) => showChallenge(each, one)),
    ...(one.isWildcard ? { wildcard: true } : {}),
  })
  const showOrder = (order: Order) => ({
    status: statusOf(order),
    identifiers: order.names.map((value) => ({ type: 'dns', value })),
    authorizations: order.authorizations.map(({ id }) => `${base}/authorization/${id}`),
    finalize: `${orderUrl(order)}/finalize`,
    ...(order.error ? { error: order.error } : {}),
    ...(statusOf(order) === 'valid' ? { certificate: `${base}/certificate/${order.certificateId}` } : {}),
  })
  function readContact(payload: SignedRequest['payload']): string[] {
    const contact = (payload?.contact ?? []) as string[]
    for (const one of contact) if (!one.startsWith('mailto:')) throw new Problem(400, 'unsupportedContact', `${one} is not a mailto URL`)
    for (const one of contact)
      if (!/^mailto:[^\s@]+@[^\s@]+\.[^\s@]+$/.test(one)) throw new Problem(400, 'invalidContact', `${one} is not an address`)
    return contact
  }

  function newAccount(request: SignedRequest): Reply {
    const jwk = request.header.jwk as Jwk
    const known = state.findByThumbprint(thumbprintOf(jwk))
    if (known) return { status: 200, body: showAccount(known), headers: { location: accountUrl(known) } }
    if (request.payload?.onlyReturnExisting === true) throw new Problem(400, 'accountDoesNotExist', 'no account has this key')
    if (requiresTerms && request.payload?.termsOfServiceAgreed !== true)
      throw new Problem(403, 'userActionRequired', `agree to ${terms}`, { link: `<${terms}>;rel="terms-of-service"` })
    if (settings.externalKeys)
      checkBinding(request.payload?.externalAccountBinding, { keys: settings.externalKeys, url: `${base}/new-account`, jwk })
    const account = state.addAccount({ jwk, key: keyOf(jwk), thumbprint: thumbprintOf(jwk), contact: readContact(request.payload) })
    return { status: 201, body: showAccount(account), headers: { location: accountUrl(account) } }
  }

  const updateAccount: Handler = ({ payload }, account, [id]) => {
    if (id !== account.id) throw new Problem(403, 'unauthorized', 'this is another account')
    if (payload?.contact) account.contact = readContact(payload)
    if (payload?.status === 'deactivated') account.status = 'deactivated'
    return { status: 200, body: showAccount(account) }
  }

  /** The inner JWS is signed by the new key, and names the old one (RFC 8555 §7.3.5). */
  const changeKey: Handler = ({ payload }, account) => {
    const inner = readParts(payload ?? {})
    const jwk = inner.header.jwk
    if (!jwk || !inner.isSignedBy(keyOf(jwk))) throw new Problem(400, 'malformed', 'the inner signature is wrong')
    if (inner.header.url !== `${base}/key-change` || inner.header.nonce !== undefined)
      throw new Problem(400, 'malformed', 'the inner header is wrong')
    if (inner.payload?.account !== accountUrl(account) || thumbprintOf(inner.payload.oldKey as Jwk) !== account.thumbprint)
      throw new Problem(400, 'malformed', 'the inner payload does not name this account and its key')
    const other = state.findByThumbprint(thumbprintOf(jwk))
    if (other) throw new Problem(409, 'malformed', 'another account has this key', { location: accountUrl(other) })
    Object.assign(account, { jwk, key: keyOf(jwk), thumbprint: thumbprintOf(jwk) })
    return { status: 200, body: showAccount(account) }
  }

  const newOrder: Handler = ({ payload }, account) => {
    if (faults.rateLimitSeconds !== null)
      throw new Problem(429, 'rateLimited', 'too many orders', { 'retry-after': String(faults.rateLimitSeconds) })
    const replaces = (payload?.replaces as string | undefined) ?? null
    const replaced = replaces === null ? null : findByRenewalId(replaces)
    if (replaces !== null && replaced?.account !== account)
      throw new Problem(400, 'malformed', 'replaces names no certificate of this account')
    if (replaced?.replacedBy) throw new Problem(409, 'alreadyReplaced', 'the certificate was replaced already')
    const order = state.addOrder(account, payload?.identifiers, replaces)
    return { status: 201, body: showOrder(order), headers: { location: orderUrl(order) } }
  }

  const readOrder: Handler = ({ payload }, account, [id]) => {
    requireRead(payload)
    const order = state.findOrder(id as string, account)
    const body = showOrder(order)
    const headers: Record<string, string> = body.status === 'processing' ? { 'retry-after': retryAfterSeconds } : {}
    if (order.processingReads > 0) order.processingReads--
    return { status: 200, body, headers }
  }

  const finalize: Handler = async ({ payload }, account, [id]) => {
    const order = state.findOrder(id as string, account)
    if (statusOf(order) !== 'ready') throw new Problem(403, 'orderNotReady', `the order is ${statusOf(order)}`)
    const { names, spki, request } = await issuer.readRequest(Buffer.from(String(payload?.csr), 'base64url'))
    if (names.toSorted().join() !== order.names.toSorted().join())
      throw new Problem(400, 'badCSR', `the request is for ${names.join()}, and the order for ${order.names.join()}`)
    if (account.key.export({ type: 'spki', format: 'der' }).equals(spki))
      throw new Problem(400, 'badCSR', 'the request has the key of the account')
    const issued = await issuer.issue(request, order.names, settings.lifetimeMs)
    const certificate = state.addCertificate({ ...issued, account, names: order.names, spki })
    const replaced = order.replaces === null ? null : findByRenewalId(order.replaces)
    if (replaced) replaced.replacedBy = certificate.id
    Object.assign(order, { certificateId: certificate.id, processingReads: faults.processingReads })
    return { status: 200, body: showOrder(order), headers: { location: orderUrl(order) } }
  }

  const readAuthorization: Handler = ({ payload }, account, [id]) => {
    const one = state.findAuthorization(id as string, account)
    if (payload !== null) {
      if (payload.status !== 'deactivated') throw new Problem(400, 'malformed', 'an authorization can only be deactivated')
      one.status = 'deactivated'
    }
    return { status: 200, body: showAuthorization(one) }
  }

  const answerChallenge: Handler = ({ payload }, account, [id, challengeId]) => {
    const one = state.findAuthorization(id as string, account)
    const challenge = one.challenges.find((each) => each.id === challengeId)
    if (!challenge) throw new Problem(404, 'malformed', 'no such challenge')
    if (payload !== null && challenge.status === 'pending') {
      if (one.status !== 'pending') throw new Problem(400, 'malformed', `the authorization is ${one.status}`)
      challenge.status = 'processing'
      void validate(one, challenge)
    }
    const links = { link: `<${base}/authorization/${one.id}>;rel="up"` }
    return { status: 200, body: showChallenge(challenge, one), headers: links }
  }

  /** A failed challenge fails its authorization. There are no second attempts (RFC 8555 §8.2). */
  async function validate(one: Authorization, challenge: Challenge): Promise<void> {
    const keyAuthorization = `${challenge.token}.${one.account.thumbprint}`
    try {
      await validator[challenge.type]({ identifier: one.identifier, token: challenge.token, keyAuthorization })
      Object.assign(challenge, { status: 'valid', validated: new Date().toISOString() })
      one.status = 'valid'
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem(500, 'serverInternal', String(error))
      Object.assign(challenge, { status: 'invalid', error: problemBody(problem) })
      one.status = 'invalid'
    }
  }

  const readCertificate: Handler = ({ payload }, account, [id]) => {
    requireRead(payload)
    const certificate = state.findCertificate(id as string, account)
    return { status: 200, body: certificate.chain, headers: { 'content-type': 'application/pem-certificate-chain' } }
  }

  function requireRead(payload: SignedRequest['payload']): void {
    if (payload !== null) throw new Problem(400, 'malformed', 'this resource is read by POST-as-GET')
  }

  /** Signed by the account that got it, by one with authorizations for every name, or by the key of the certificate (RFC 8555 §7.6). */
  function revoke(request: SignedRequest, account: Account | null): Reply {
    const der = Buffer.from(String(request.payload?.certificate), 'base64url')
    const found = [...state.certificates.values()].find(({ leaf }) => leaf.raw.equals(der))
    if (!found) throw new Problem(404, 'malformed', 'this authority did not issue the certificate')
    const isAuthorized = account
      ? found.account === account ||
        found.names.every((name) =>
          [...state.authorizations.values()].some(
            (one) => one.account === account && one.status === 'valid' && one.identifier === name.replace(/^\*\./, ''),
          ),
        )
      : request.isSignedBy(createPublicKey({ key: found.spki, format: 'der', type: 'spki' }))
    if (!isAuthorized) throw new Problem(403, 'unauthorized', 'the signer may not revoke this certificate')
    const reason = Number(request.payload?.reason ?? 0)
    if (!revocationReasons.includes(reason)) throw new Problem(400, 'badRevocationReason', `reason ${reason} is not allowed`)
    if (found.revokedReason !== null) throw new Problem(400, 'alreadyRevoked', 'the certificate is revoked already')
    found.revokedReason = reason
    return { status: 200 }
  }

  const renewalIdOf = ({ leaf }: Certificate): string => {
    const octets = Buffer.from(leaf.serialNumber.length % 2 ? `0${leaf.serialNumber}` : leaf.serialNumber, 'hex')
    const serial = (octets[0] as number) < 0x80 ? octets : Buffer.concat([Buffer.of(0), octets])
    return `${issuer.keyId.toString('base64url')}.${serial.toString('base64url')}`
  }
  const findByRenewalId = (id: string): Certificate | null =>
    [...state.certificates.values()].find((one) => renewalIdOf(one) === id) ?? null

  function readRenewalInfo(id: string): Reply {
    const found = findByRenewalId(id)
    if (!found) throw new Problem(404, 'malformed', 'no such certificate')
    const endMs = found.leaf.validToDate.getTime()
    const lifeMs = endMs - found.leaf.validFromDate.getTime()
    const window = windows.get(found.names[0] as string) ?? { startMs: endMs - lifeMs / 3, endMs: endMs - (lifeMs * 3) / 10 }
    const suggestedWindow = { start: new Date(window.startMs).toISOString(), end: new Date(window.endMs).toISOString() }
    return { status: 200, body: { suggestedWindow }, headers: { 'retry-after': '1' } }
  }

  const routes: [RegExp, Handler][] = [
    [/^\/account\/([^/]+)$/, updateAccount],
    [/^\/key-change$/, changeKey],
    [/^\/new-order$/, newOrder],
    [/^\/order\/([^/]+)$/, readOrder],
    [/^\/order\/([^/]+)\/finalize$/, finalize],
    [/^\/authorization\/([^/]+)$/, readAuthorization],
    [/^\/challenge\/([^/]+)\/([^/]+)$/, answerChallenge],
    [/^\/certificate\/([^/]+)$/, readCertificate],
  ]

  function findAccount(request: SignedRequest): Account {
    const account = [...state.accounts.values()].find((one) => accountUrl(one) === request.header.kid)
    if (!account) throw new Problem(400, 'accountDoesNotExist', 'kid is not the URL of an account')
    if (account.status !== 'valid') throw new Problem(403, 'unauthorized', `the account is ${account.status}`)
    if (!request.isSignedBy(account.key)) throw new Problem(403, 'unauthorized', 'the signature is wrong')
    return account
  }

  return { routes, newAccount, revoke, readRenewalInfo, findAccount }
}
