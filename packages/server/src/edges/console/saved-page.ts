// Lets a saved vault page call the API. Its origin is `null`, and it has an API key instead of the session cookie, which browsers withhold from it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Every page in a sandbox has this origin too. It gets nothing without an API key, because the API ignores cookies. */
const savedOrigin = 'null'

const vaultPath = /^\/api\/v1\/vault(\/|$)/
const readPaths = ['/api/v1/me', '/api/v1/identities', '/api/v1/audit']

/** The methods that a saved page may use on a path. */
function methodsOf(path: string): string {
  if (vaultPath.test(path)) return 'GET, POST, PUT, PATCH, DELETE'
  return readPaths.includes(path) ? 'GET' : ''
}

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] as string

/** Adds the headers of Cross-Origin Resource Sharing to the vault's operations. */
export function openToSavedPage(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.origin !== savedOrigin || methodsOf(pathOf(request)) === '') return
  reply.headers({
    'access-control-allow-origin': savedOrigin,
    'access-control-expose-headers': 'Retry-After, X-Request-Id',
    vary: 'Origin',
  })
}

/** Answers the browser's question about the operations that a saved page may call. */
export function mountSavedPage(app: FastifyInstance): void {
  app.options('/api/v1/*', async (request, reply) => {
    const methods = methodsOf(pathOf(request))
    const isAsked = request.headers['access-control-request-method'] !== undefined
    if (request.headers.origin !== savedOrigin || methods === '' || !isAsked) return reply.callNotFound()
    request.pattern = '/api/v1/*'
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key',
        'access-control-max-age': '600',
      })
      .send()
  })
}
