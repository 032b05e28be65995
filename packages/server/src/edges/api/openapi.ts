// Serves the OpenAPI document and the reference page generated from it.
import { type OpenApiDocument, openApiDocument } from '@callsign/contract/openapi'
import type { Operation } from '@callsign/contract/operation'
import type { FastifyInstance } from 'fastify'
import { referencePage } from './reference.ts'

/** Adds /openapi.json and /docs. `serverUrl` is called on first use, when the port is known. */
export function mountOpenApi(app: FastifyInstance, about: { serverUrl: () => string; version: string }, operations: Operation[]): void {
  let made: { document: OpenApiDocument; json: string; page: ReturnType<typeof referencePage> } | null = null

  const make = () => {
    if (made === null) {
      const document = openApiDocument({ serverUrl: about.serverUrl(), version: about.version }, operations)
      made = { document, json: JSON.stringify(document), page: referencePage(document) }
    }
    return made
  }

  app.get('/openapi.json', async (request, reply) => {
    request.pattern = '/openapi.json'
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(make().json)
  })

  app.get('/docs', async (request, reply) => {
    request.pattern = '/docs'
    const { html, contentSecurityPolicy } = make().page
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', contentSecurityPolicy)
      .header('x-frame-options', 'DENY')
      .send(html)
  })
}
