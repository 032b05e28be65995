// Cross-origin requests (Fetch, section 3.3) for endpoints that read a token and no cookie. A page has no token unless a person gave it one.
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Seconds that a browser may keep the answer to a preflight request. Chromium keeps it for 2 hours at most. */
const preflightKeptSeconds = 7200

const responseHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Mcp-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id',
}

/** Answers preflight requests of a path. Returns the function that opens a response to pages of every site, refusals included. */
export function openToPages(app: FastifyInstance, path: string, methods: string[]): (reply: FastifyReply) => void {
  app.route({
    method: 'OPTIONS',
    url: path,
    onRequest: async (request) => {
      request.pattern = path
    },
    handler: async (_request, reply) =>
      reply
        .code(204)
        .headers({
          ...responseHeaders,
          'access-control-allow-methods': methods.join(', '),
          // The wildcard does not stand for Authorization.
          'access-control-allow-headers': 'Authorization, *',
          'access-control-max-age': String(preflightKeptSeconds),
        })
        .send(),
  })
  return (reply) => void reply.headers(responseHeaders)
}
