// Client metadata, as a client registers it (RFC 7591) or publishes it at the URL that is its id (Client ID Metadata Document). Pure.
import { visible } from '@callsign/contract/tools/foreign-text'
import { OAuthFailure, redirectProblem } from './model.ts'

export type ClientMetadata = { name: string; redirectUris: string[] }

const redirectsMax = 10
const nameLengthMax = 100

const metadataFailure = (message: string): OAuthFailure => new OAuthFailure('invalid_client_metadata', message)

/** Reads metadata that a stranger wrote. `fallbackName` is for clients without a name. Throws OAuthFailure. */
export function readClientMetadata(given: unknown, fallbackName: string): ClientMetadata {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw metadataFailure('The metadata is not a JSON object.')
  const {
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: grants,
    response_types: responses,
  } = given as Record<string, unknown>
  if (!isTextList(redirectUris) || redirectUris.length === 0 || redirectUris.length > redirectsMax)
    throw new OAuthFailure('invalid_redirect_uri', `redirect_uris has to be a list of 1 to ${redirectsMax} URLs.`)
  for (const uri of redirectUris) {
    const problem = redirectProblem(uri)
    if (problem !== null) throw new OAuthFailure('invalid_redirect_uri', `A URL of redirect_uris ${problem}.`)
  }
  if (name !== undefined && typeof name !== 'string') throw metadataFailure('client_name has to be a text.')
  if (grants !== undefined && !(isTextList(grants) && grants.includes('authorization_code')))
    throw metadataFailure('grant_types has to contain authorization_code.')
  if (responses !== undefined && !(isTextList(responses) && responses.includes('code')))
    throw metadataFailure('response_types has to contain code.')
  return { name: readName(name) || fallbackName, redirectUris }
}

const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string')

/** One line as a person sees it, so that invisible characters cannot disguise it. */
const readName = (name = ''): string => visible(name).replace(/\s+/g, ' ').trim().slice(0, nameLengthMax).toWellFormed()

/** True for an id that is the URL of a document: https, with a path, and written in its normal form. */
export function isDocumentId(clientId: string): boolean {
  if (clientId.length > 500 || !URL.canParse(clientId)) return false
  const url = new URL(clientId)
  return url.protocol === 'https:' && url.href === clientId && url.pathname !== '/' && !url.hash && !url.username && !url.password
}

/** Reads a document. Its `client_id` has to be its URL, and the client has to be public. Throws OAuthFailure. */
export function readClientDocument(url: string, text: string): ClientMetadata {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw metadataFailure('The metadata document is not JSON.')
  }
  const metadata = readClientMetadata(given, new URL(url).host)
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = given as Record<string, unknown>
  if (id !== url) throw metadataFailure('client_id in the metadata document is not its URL.')
  if (secret !== undefined || (method !== undefined && method !== 'none'))
    throw metadataFailure('Only public clients are supported: token_endpoint_auth_method has to be none.')
  return metadata
}
