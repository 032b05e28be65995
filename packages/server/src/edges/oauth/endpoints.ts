// The endpoints of OAuth that programs call: metadata, registration, token and revocation.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { formType, isForm, readForm } from '../../core/form.ts'
import { type OAuthErrorCode, OAuthFailure } from '../../features/account/oauth/model.ts'
import type { OAuth } from '../../features/account/oauth/operations.ts'
import { checkOffered, oauthPaths, resourceMetadata, resourceOf, serverMetadata, wellKnownPaths } from './metadata.ts'

export type OAuthEdge = {
  oauth: OAuth
  publicUrl: () => string
  /** The address that limits count. */
  addressOf: (request: FastifyRequest) => string
  admitBody: (request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean) => ApiError | undefined
  /** Opens a path to pages of every site. Returns the function that opens each response. */
  openToPages: (app: FastifyInstance, path: string, methods: string[]) => (reply: FastifyReply) => void
}

const bodyBytesMax = 16 * 1024

/** Statuses other than 400 (RFC 6749 §5.2). */
const statuses: Partial<Record<OAuthErrorCode, number>> = { invalid_client: 401, access_denied: 403 }

/** The parameters of a request. Throws OAuthFailure for a body that is not a form. */
function readParameters(request: FastifyRequest): URLSearchParams {
  const fields = readForm(request)
  if (!isForm(request)) throw new OAuthFailure('invalid_request', `Send the parameters as ${formType}.`)
  return fields
}

/** Answers a failure in the shape of RFC 6749 §5.2. Other errors keep the shape of the API. */
function sendOAuthFailure(error: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof ApiError && error.code === 'rate_limited') {
    return reply.code(429).headers(error.headers).send({ error: 'temporarily_unavailable', error_description: error.message })
  }
  if (!(error instanceof OAuthFailure)) throw error
  return reply.code(statuses[error.code] ?? 400).send({ error: error.code, error_description: error.message })
}

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Adds the endpoints. All answer 404 where OAuth is not offered. */
export function mountEndpoints(app: FastifyInstance, edge: OAuthEdge): void {
  const { publicUrl, admitBody, openToPages } = edge
  const get = (path: string, read: (url: string) => object) => {
    const open = openToPages(app, path, ['GET'])
    app.get(path, async (request, reply) => {
      request.pattern = path
      open(reply)
      checkOffered(publicUrl())
      return reply.headers({ 'cache-control': 'public, max-age=300' }).send(read(publicUrl()))
    })
  }
  get(wellKnownPaths.resource, resourceMetadata)
  get(wellKnownPaths.resourceAtPath, resourceMetadata)
  get(wellKnownPaths.server, serverMetadata)

  const post = (url: string, isRaw: boolean, run: Answer) => {
    const open = openToPages(app, url, ['POST'])
    app.route({
      method: 'POST',
      url,
      onRequest: async (request, reply) => {
        request.pattern = url
        open(reply)
        checkOffered(publicUrl())
        const refused = admitBody(request, reply, bodyBytesMax, isRaw)
        if (refused) throw refused
      },
      handler: (request, reply) => run(request, reply).catch((error: unknown) => sendOAuthFailure(error, reply)),
    })
  }
  const { token, register, revoke } = createAnswers(edge)
  post(oauthPaths.token, true, token)
  post(oauthPaths.register, false, register)
  post(oauthPaths.revoke, true, revoke)
}

function createAnswers({ oauth, publicUrl, addressOf }: OAuthEdge): Record<'token' | 'register' | 'revoke', Answer> {
  return {
    async token(request, reply) {
      const from = { resource: resourceOf(publicUrl()), address: addressOf(request), requestId: request.id }
      const tokens = await oauth.exchange(readParameters(request), from)
      return reply.send({
        access_token: tokens.accessToken,
        token_type: 'Bearer',
        expires_in: tokens.expiresInSeconds,
        refresh_token: tokens.refreshToken,
        scope: tokens.scopes.join(' '),
      })
    },

    async revoke(request, reply) {
      await oauth.revoke(readParameters(request), request.id)
      return reply.code(200).send()
    },

    async register(request, reply) {
      if (request.body instanceof Error) throw request.body
      const client = await oauth.register(request.body, addressOf(request))
      return reply.code(201).send({
        client_id: client.id,
        client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      })
    },
  }
}
