// OAuth 2.1 for connected apps: errors, codes and tokens, PKCE, redirect URIs and resources. Pure.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Toolset, toolsets } from '@callsign/contract/tools/tool'

export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** A refused OAuth request, with an error code of RFC 6749, 7591 or 8707. */
export class OAuthFailure extends Error {
  override name = 'OAuthFailure'
  readonly code: OAuthErrorCode
  constructor(code: OAuthErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Approval of mail that an app sends: as the agent is set, always in the console, or in the app where it can ask. */
export const mailApprovals = ['agent', 'always', 'ask'] as const
export type MailApproval = (typeof mailApprovals)[number]

/** `host` is the host of its metadata document, and null for a client that registered itself under a name of its choice. */
export type OAuthClient = { id: string; name: string; host: string | null; redirectUris: string[] }

/** The access that a person gave to an app. */
export type Grant = { toolsets: Toolset[]; isReadOnly: boolean; mailApproval: MailApproval }

/** One authorization request whose client and redirect URI are valid. */
export type AuthorizationRequest = { redirectUri: string; state: string | null; codeChallenge: string; scopes: string[] }

export const codeMs = 60_000
export const accessMs = 3_600_000
/** A refresh token ends after 90 days without use. */
export const refreshMs = 90 * 86_400_000

/**
 * The time in which a refresh token that was just replaced returns its replacement again. Two processes of one app may refresh at the same
 * moment, and an answer may be lost.
 */
export const graceMs = 30_000

const prefixes = { code: 'oac_', access: 'oat_', refresh: 'ort_' } as const
export type CredentialKind = keyof typeof prefixes

/** 256 random bits with a prefix that names the kind. Only the hash is stored. */
export const newCredential = (kind: CredentialKind): string => prefixes[kind] + randomBytes(32).toString('base64url')

/** The hash of a well-formed code or token of this kind, or null. */
export const hashCredential = (kind: CredentialKind, text: string): Buffer | null =>
  text.startsWith(prefixes[kind]) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(4)) ? createHash('sha256').update(text).digest() : null

/** The key under which a refresh token keeps its replacement: only a holder of the token can make it. Differs from the stored hash. */
export const successorKey = (refreshToken: string): Buffer => createHash('sha256').update(`successor ${refreshToken}`).digest()

/** True if the challenge is the S256 form of the verifier (RFC 7636 §4.6). */
export function isVerifier(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const wanted = Buffer.from(challenge)
  return made.length === wanted.length && timingSafeEqual(made, wanted)
}

export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']
export const isLoopback = (url: URL): boolean => loopbackHosts.includes(url.hostname)

/** Schemes that browsers run or read themselves. An app's own scheme opens the app. */
const browserSchemes =
  /^(javascript|data|vbscript|blob|about|file|filesystem|view-source|ws|wss|ftp|mailto|tel|sms|chrome|edge|moz-extension|chrome-extension|intent|jar):$/

const redirectLengthMax = 1000

/** The problem with a redirect URI that a client registers, or null. */
export function redirectProblem(uri: string): string | null {
  if (uri.length > redirectLengthMax || !/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\') || !URL.canParse(uri)) return 'is not a URL'
  const url = new URL(uri)
  if (uri.includes('#')) return 'has a fragment'
  if (url.username !== '' || url.password !== '') return 'has a user name or password'
  if (url.protocol === 'https:') return null
  if (url.protocol === 'http:') return isLoopback(url) ? null : 'has to be https, or http on a loopback address'
  return browserSchemes.test(url.protocol) ? `cannot have the scheme ${url.protocol}` : null
}

/** True if the client registered this URI. Equal text, except for the port of a loopback address (RFC 8252 §7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (redirectProblem(uri) !== null) return false
  return registered.some((one) => one === uri || (isLoopbackHttp(one) && isLoopbackHttp(uri) && withoutPort(one) === withoutPort(uri)))
}

const isLoopbackHttp = (uri: string): boolean => uri.startsWith('http://') && isLoopback(new URL(uri))

const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*)):\d+/, '$1')

/** The redirect URI with the parameters of the response. Its own query stays. */
export function responseUrl(redirectUri: string, parameters: Record<string, string | null>): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.append(name, value)
  return url.href
}

/** True if the `resource` of a request names this one. The query of an MCP address selects tools, and names no other resource. */
export function isResource(given: string, resource: string): boolean {
  if (!URL.canParse(given) || given.includes('#')) return false
  const url = new URL(given)
  return `${url.protocol}//${url.username || url.password ? '@' : ''}${url.host}${url.pathname.replace(/\/$/, '')}` === resource
}

/** The only value of a parameter, or null without one. Throws for a repeated parameter (RFC 6749 §3.1). */
export function single(parameters: URLSearchParams, name: string): string | null {
  const values = parameters.getAll(name)
  if (values.length > 1) throw new OAuthFailure('invalid_request', `${name} is there more than once.`)
  return values[0] || null
}

/** Like `single`, for a parameter that has to be there. */
export function required(parameters: URLSearchParams, name: string): string {
  const value = single(parameters, name)
  if (value === null) throw new OAuthFailure('invalid_request', `${name} is required.`)
  return value
}

export const isToolset = (text: string): text is Toolset => (toolsets as readonly string[]).includes(text)

/** The problem of an authorization request whose client and redirect URI are valid, or null. */
export function findProblem(parameters: URLSearchParams, resource: string): OAuthFailure | null {
  const fail = (code: OAuthErrorCode, message: string) => new OAuthFailure(code, message)
  const names = ['response_type', 'response_mode', 'state', 'code_challenge', 'code_challenge_method', 'scope', 'resource']
  const repeated = names.find((name) => parameters.getAll(name).length > 1)
  if (repeated !== undefined) return fail('invalid_request', `${repeated} is there more than once.`)
  if (parameters.get('response_type') !== 'code') return fail('unsupported_response_type', 'response_type has to be code.')
  if ((parameters.get('response_mode') ?? 'query') !== 'query') return fail('invalid_request', 'response_mode has to be query.')
  if (parameters.has('request') || parameters.has('request_uri')) return fail('invalid_request', 'Request objects are not supported.')
  if (parameters.get('code_challenge_method') !== 'S256') return fail('invalid_request', 'code_challenge_method has to be S256.')
  if (!isChallenge(parameters.get('code_challenge') ?? ''))
    return fail('invalid_request', 'code_challenge has to be 43 characters of base64url.')
  const target = parameters.get('resource')
  if (target !== null && !isResource(target, resource)) return fail('invalid_target', `resource has to be ${resource}.`)
  return null
}
