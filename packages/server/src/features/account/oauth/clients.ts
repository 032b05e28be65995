// OAuth clients: those that registered themselves, and those whose id is the URL of their metadata document.
import { isId } from '@callsign/contract/ids'
import { inMs, now, nowMs } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import type { Database } from '../../../core/sql.ts'
import { FetchRefused, type Web } from '../../../core/web.ts'
import { byRegistration } from '../attempts/model.ts'
import type { Attempts } from '../attempts/operations.ts'
import { isDocumentId, readClientDocument, readClientMetadata } from './client-metadata.ts'
import { type OAuthClient, OAuthFailure } from './model.ts'
import * as store from './store.ts'

export interface OAuthClients {
  /** The client with this id. Fetches its document if it has one. Throws OAuthFailure for an unknown client or an unusable document. */
  find(clientId: string): Promise<OAuthClient>
  /** Registers a client. Throws OAuthFailure for bad metadata, and ApiError 429 above the limits. */
  register(metadata: unknown, address: string): Promise<OAuthClient & { createdAt: Date }>
  /** Deletes registered clients without a grant after a week. */
  sweep(): Promise<void>
}

const clientsMax = 10_000
const unusedMs = 7 * 86_400_000

/** Limits of a metadata document. It is read again after 10 minutes. */
const documentBytesMax = 16 * 1024
const documentTimeoutMs = 5000
const documentKeptMs = 600_000
const documentsKeptMax = 200

export function createOAuthClients(db: Database, web: Web, attempts: Attempts): OAuthClients {
  const documents = new Map<string, { client: OAuthClient; untilMs: number }>()

  async function findDocument(url: string): Promise<OAuthClient> {
    const kept = documents.get(url)
    if (kept && kept.untilMs > nowMs()) return kept.client
    documents.delete(url)
    const { name, redirectUris } = readClientDocument(url, await fetchDocument(url))
    const client = { id: url, name, redirectUris, host: new URL(url).host }
    const [oldest] = documents.keys()
    if (documents.size >= documentsKeptMax && oldest !== undefined) documents.delete(oldest)
    documents.set(url, { client, untilMs: nowMs() + documentKeptMs })
    return client
  }

  async function fetchDocument(url: string): Promise<string> {
    try {
      const { bytes, contentType } = await web.fetchFile(url, {
        bytesMax: documentBytesMax,
        timeoutMs: documentTimeoutMs,
        redirectsMax: 0,
      })
      if (!/^application\/(?:[a-z0-9.-]+\+)?json(?:;|$)/.test(contentType))
        throw new OAuthFailure('invalid_client', 'The metadata document of the app is not application/json.')
      return bytes.toString('utf8')
    } catch (error) {
      // The person did not choose the address, and the page must not describe the network of the server.
      if (error instanceof FetchRefused) throw new OAuthFailure('invalid_client', 'The metadata document of the app cannot be fetched.')
      throw error
    }
  }

  return {
    async find(clientId) {
      if (isDocumentId(clientId)) return findDocument(clientId)
      const row = isId('oauthClient', clientId) ? await store.findClient(db, clientId) : null
      if (!row)
        throw new OAuthFailure('invalid_client', 'This app is not registered. Connect again from the app, so that it registers again.')
      return { id: row.id, name: row.name, redirectUris: row.redirect_uris, host: null }
    },

    async register(metadata, address) {
      await attempts.take(byRegistration(address))
      const { name, redirectUris } = readClientMetadata(metadata, 'Unnamed app')
      const row = { id: newId('oauthClient'), name, redirect_uris: redirectUris, created_at: now() }
      if (!(await store.insertClient(db, row, clientsMax)))
        throw new OAuthFailure(
          'invalid_client_metadata',
          'Too many apps are registered. Use a client id that is the URL of a metadata document.',
        )
      return { id: row.id, name, redirectUris, host: null, createdAt: row.created_at }
    },

    sweep: () => store.deleteUnusedClients(db, inMs(-unusedMs)),
  }
}
