// OAuth 2.1 for connected apps: authorization requests, grants, codes, and tokens with rotation.
import { agentScopes, type Scope } from '@callsign/contract/scopes'
import { selectTools } from '@callsign/contract/tools/tool-table'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller, RequestClient } from '../../../core/caller.ts'
import { inMs } from '../../../core/clock.ts'
import { openSecret, sealSecret } from '../../../core/secret-seal.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Web } from '../../../core/web.ts'
import { byBadGrant } from '../attempts/model.ts'
import type { Attempts } from '../attempts/operations.ts'
import type { Keys } from '../keys/operations.ts'
import type { Actor } from '../organizations/model.ts'
import type { Session } from '../sessions/model.ts'
import { actorOfSession } from '../sessions/operations.ts'
import { createOAuthClients, type OAuthClients } from './clients.ts'
import {
  type AuthorizationRequest,
  accessMs,
  codeMs,
  findProblem,
  type Grant,
  graceMs,
  hashCredential,
  isRegistered,
  isResource,
  isVerifier,
  newCredential,
  type OAuthClient,
  OAuthFailure,
  refreshMs,
  required,
  single,
  successorKey,
} from './model.ts'
import * as store from './store.ts'

/** A request as it came, with the resource that the server offers. `problem` goes to the redirect URI, which is valid. */
export type Authorization = {
  client: OAuthClient
  request: AuthorizationRequest
  problem: OAuthFailure | null
}

export type Agent = { identityId: string; handle: string; address: string; needsApproval: boolean }

/** The choice of the person on the consent page. */
export type Choice = Grant & { handles: string[] }

/** The access of a token. `grant` narrows the rights of the caller. */
export type Access = { caller: Caller; grant: Grant }

export type Tokens = { accessToken: string; refreshToken: string; expiresInSeconds: number; scopes: string[] }

export interface OAuth extends Pick<OAuthClients, 'register'> {
  /** Checks an authorization request. Throws OAuthFailure without a client or redirect URI that is valid. Nothing may be redirected then. */
  readAuthorization(parameters: URLSearchParams, resource: string): Promise<Authorization>
  /** True when the person may connect apps, which is the right to create keys. */
  mayConnect(session: Session): boolean
  /** The agents of the organization, newest first. */
  listAgents(organizationId: string): Promise<Agent[]>
  /** Creates the grant, and returns a code for it. Throws OAuthFailure for a choice without agents, or with an unknown one. */
  approve(session: Session, authorization: Authorization, choice: Choice, at: { resource: string; requestId: string }): Promise<string>
  /** The token endpoint: a code or a refresh token for new tokens. Throws OAuthFailure, and ApiError 429 after many failures of an address. */
  exchange(parameters: URLSearchParams, from: { resource: string; address: string; requestId: string }): Promise<Tokens>
  /** The revocation endpoint (RFC 7009). A refresh token revokes its grant. Unknown tokens are ignored. */
  revoke(parameters: URLSearchParams, requestId: string): Promise<void>
  /** The access of a token for this resource, or null. Null at once for text that is not a token. */
  authenticate(token: string, resource: string, client: RequestClient): Promise<Access | null> | null
  /** Deletes expired entries. */
  sweep(): Promise<void>
}

const agentsMax = 500

/** Expired rows are kept for a day, so that a late second use of a code is recognised. */
const keptMs = 86_400_000

type Parts = { db: Database; web: Web; keys: Keys; attempts: Attempts }

/** The outcome of an exchange. A failure is thrown after the commit, because a second use revokes the grant. */
type Exchange = Tokens | OAuthFailure

export function createOAuth({ db, web, keys, attempts }: Parts): OAuth {
  const clients = createOAuthClients(db, web, attempts)
  const loadAccess = batchLoader((hashes) => store.findAccess(db, hashes))

  type Granted = { organization_id: string; key_id: string; scopes: string[] }

  /** New tokens. With `known`, the refresh token is that of an earlier exchange. */
  async function issue(tx: Tx, { organization_id, key_id, scopes }: Granted, known: string | null = null): Promise<Tokens> {
    const [accessToken, refreshToken] = [newCredential('access'), known ?? newCredential('refresh')]
    const expiresAt = inMs(refreshMs)
    const owner = { organization_id, key_id }
    await store.insertTokens(tx, [
      { ...owner, token_hash: hashOf('access', accessToken), kind: 'access', expires_at: inMs(accessMs) },
      ...(known === null
        ? [{ ...owner, token_hash: hashOf('refresh', refreshToken), kind: 'refresh' as const, expires_at: expiresAt }]
        : []),
    ])
    await keys.extendWithin(tx, organization_id, key_id, expiresAt)
    return { accessToken, refreshToken, expiresInSeconds: accessMs / 1000, scopes }
  }

  /** A second use shows that someone else has the code or token, so the grant ends for both. */
  async function endReused(tx: Tx, grant: { organization_id: string; key_id: string }, requestId: string): Promise<OAuthFailure> {
    await keys.revokeWithin(tx, actorOfApp(grant.key_id, requestId), grant.organization_id, grant.key_id)
    return new OAuthFailure('invalid_grant', 'This was used before. The access is revoked. Connect the app again.')
  }

  const exchangeCode = (parameters: URLSearchParams, resource: string, requestId: string): Promise<Exchange> => {
    const hash = hashCredential('code', required(parameters, 'code'))
    const [clientId, redirectUri, verifier] = ['client_id', 'redirect_uri', 'code_verifier'].map((name) => required(parameters, name))
    return db.transact(async (tx) => {
      const code = hash && (await store.useCode(tx, hash))
      if (!code) throw badGrant('The code is unknown.')
      if (code.client_id !== clientId) throw badGrant('The code belongs to another client.')
      if (!code.is_first) return endReused(tx, code, requestId)
      if (!code.is_usable) throw badGrant('The code has expired.')
      if (code.redirect_uri !== redirectUri) throw badGrant('redirect_uri is not that of the authorization request.')
      if (!isVerifier(verifier as string, code.code_challenge)) throw badGrant('code_verifier does not fit code_challenge.')
      checkTarget(parameters, code.resource, resource)
      return issue(tx, code)
    })
  }

  const exchangeRefreshToken = (parameters: URLSearchParams, resource: string, requestId: string): Promise<Exchange> => {
    const presented = required(parameters, 'refresh_token')
    const hash = hashCredential('refresh', presented)
    const clientId = required(parameters, 'client_id')
    return db.transact(async (tx) => {
      const token = hash && (await store.useRefreshToken(tx, hash))
      if (!hash || !token) throw badGrant('The refresh token is unknown.')
      if (token.client_id !== clientId) throw badGrant('The refresh token belongs to another client.')
      const successor = token.is_first ? null : await store.findSuccessor(tx, hash, graceMs)
      if (!token.is_first && !successor) return endReused(tx, token, requestId)
      if (!token.is_usable) throw badGrant('The access has expired or was revoked. Connect the app again.')
      checkTarget(parameters, token.resource, resource)
      const key = successorKey(presented)
      if (successor) return issue(tx, token, openSecret(key, token.key_id, successor).toString())
      const issued = await issue(tx, token)
      const sealed = sealSecret(key, token.key_id, Buffer.from(issued.refreshToken))
      await store.setSuccessor(tx, hash, hashOf('refresh', issued.refreshToken), sealed)
      return issued
    })
  }

  const exchanges = new Map([
    ['authorization_code', exchangeCode],
    ['refresh_token', exchangeRefreshToken],
  ])

  const listAgents = async (organizationId: string): Promise<Agent[]> =>
    (await store.listAgents(db, organizationId, agentsMax)).map((row) => ({
      identityId: row.identity_id,
      handle: row.agent_handle,
      address: row.address,
      needsApproval: row.draft_approval === 'required',
    }))

  return {
    register: clients.register,
    listAgents,
    mayConnect: ({ role }) => role === 'owner',

    async readAuthorization(parameters, resource) {
      const client = await clients.find(required(parameters, 'client_id'))
      const redirectUri = required(parameters, 'redirect_uri')
      if (!isRegistered(redirectUri, client.redirectUris))
        throw new OAuthFailure('invalid_request', 'The app asks to send the access to an address that it has not registered.')
      const state = parameters.getAll('state').length === 1 ? parameters.get('state') : null
      const request = { redirectUri, state, codeChallenge: parameters.get('code_challenge') ?? '', scopes: scopesIn(parameters) }
      return { client, request, problem: findProblem(parameters, resource) }
    },

    async approve(session, { client, request }, choice, { resource, requestId }) {
      const known = new Map((await listAgents(session.organizationId)).map((agent) => [agent.handle, agent]))
      const agents = choice.handles.flatMap((handle) => known.get(handle) ?? [])
      if (agents.length === 0 || agents.length !== choice.handles.length) throw new OAuthFailure('invalid_request', 'Choose an agent.')
      const code = newCredential('code')
      const expiresAt = inMs(codeMs)
      await db.transact(async (tx) => {
        const keyId = await keys.insertWithin(tx, actorOfSession(session, requestId), {
          organizationId: session.organizationId,
          userId: session.userId,
          name: client.name,
          agents,
          scopes: scopesOf(choice),
          allowedIps: [],
          expiresAt,
          details: { connected_app: client.id },
        })
        const owner = { organization_id: session.organizationId, key_id: keyId }
        await store.insertGrant(tx, {
          ...owner,
          client_id: client.id,
          client_name: client.name,
          client_host: client.host,
          resource,
          toolsets: choice.toolsets,
          is_read_only: choice.isReadOnly,
          mail_approval: choice.mailApproval,
        })
        const { redirectUri, codeChallenge } = request
        await store.insertCode(tx, {
          ...owner,
          code_hash: hashOf('code', code),
          redirect_uri: redirectUri,
          code_challenge: codeChallenge,
          expires_at: expiresAt,
        })
      })
      return code
    },

    async exchange(parameters, { resource, address, requestId }) {
      const run = exchanges.get(required(parameters, 'grant_type'))
      if (!run) throw new OAuthFailure('unsupported_grant_type', 'grant_type has to be authorization_code or refresh_token.')
      const outcome = await run(parameters, resource, requestId).catch((error: unknown) => {
        if (error instanceof OAuthFailure) return error
        throw error
      })
      if (!(outcome instanceof OAuthFailure)) return outcome
      await attempts.take(byBadGrant(address))
      throw outcome
    },

    async revoke(parameters, requestId) {
      const token = required(parameters, 'token')
      const clientId = required(parameters, 'client_id')
      const refresh = hashCredential('refresh', token)
      const hash = refresh ?? hashCredential('access', token)
      const grant = hash && (await store.findTokenGrant(db, hash))
      if (!grant || !hash) return
      if (grant.client_id !== clientId) throw new OAuthFailure('invalid_client', 'The token belongs to another client.')
      await db.transact(async (tx) => {
        if (refresh) await keys.revokeWithin(tx, actorOfApp(grant.key_id, requestId), grant.organization_id, grant.key_id)
        else await store.deleteToken(tx, hash)
      })
    },

    authenticate(token, resource, client) {
      const hash = hashCredential('access', token)
      return hash && findAccess(hash.toString('hex'), resource, client)
    },

    async sweep() {
      await store.sweepExpired(db, inMs(-keptMs))
      await clients.sweep()
    },
  }

  async function findAccess(hash: string, resource: string, client: RequestClient): Promise<Access | null> {
    const row = await loadAccess(hash)
    if (!row || row.resource !== resource) return null
    const caller = await keys.findCaller(row.key_id, client)
    if (!caller) return null
    const grant: Grant = { toolsets: row.toolsets, isReadOnly: row.is_read_only, mailApproval: row.mail_approval }
    return { caller: { ...caller, mailApproval: grant.mailApproval === 'agent' ? 'agent' : 'always' }, grant }
  }
}

const hashOf = (kind: 'code' | 'access' | 'refresh', text: string): Buffer => hashCredential(kind, text) as Buffer

const badGrant = (message: string): OAuthFailure => new OAuthFailure('invalid_grant', message)

const actorOfApp = (keyId: string, requestId: string): Actor => ({ type: 'key', id: keyId, requestId })

/** The scopes that the chosen tools need. Naming an agent is always among them, so that the list is never empty, which would be the default. */
const scopesOf = (choice: Grant): Scope[] => {
  const needed = new Set<string>(
    selectTools({ toolsets: choice.toolsets, readOnly: choice.isReadOnly }).flatMap((tool) => [...tool.scopes]),
  )
  return agentScopes.filter((scope) => scope === 'identities:read' || needed.has(scope))
}

const scopesIn = (parameters: URLSearchParams): string[] => (parameters.get('scope') ?? '').split(' ').filter(Boolean)

function checkTarget(parameters: URLSearchParams, granted: string, offered: string): void {
  const given = single(parameters, 'resource')
  if (granted !== offered || (given !== null && !isResource(given, granted)))
    throw new OAuthFailure('invalid_target', 'resource is not the address that the access is for.')
}
