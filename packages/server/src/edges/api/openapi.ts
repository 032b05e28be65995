// Serves the OpenAPI document and the reference pages made from it.
import { openApiDocument } from '@callsign/contract/openapi'
import type { OpenApiDocument } from '@callsign/contract/openapi-types'
import type { Operation } from '@callsign/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { llmsFullText, llmsText } from './reference/llms.ts'
import { createReference, type Reference, type ReferenceQuery } from './reference/pages.ts'

/** Adds /openapi.json, /docs with its pages, and /llms.txt. `serverUrl` is called on first use, when the port is known. */
export function mountOpenApi(app: FastifyInstance, about: { serverUrl: () => string; version: string }, operations: Operation[]): void {
  let made: { document: OpenApiDocument; json: string; reference: Reference } | null = null

  const make = () => {
    if (made === null) {
      const document = openApiDocument({ serverUrl: about.serverUrl(), version: about.version }, operations)
      made = { document, json: JSON.stringify(document), reference: createReference(document) }
    }
    return made
  }

  app.get('/openapi.json', async (request, reply) => {
    request.pattern = '/openapi.json'
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(make().json)
  })

  const show = (name: string, query: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { reference } = make()
    const page = reference.page(name, query as ReferenceQuery)
    request.pattern = page === null ? '/docs/…' : `/docs/${name}`
    if (page === null) return reply.callNotFound()
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', reference.contentSecurityPolicy)
      .header('x-content-type-options', 'nosniff')
      .header('x-frame-options', 'DENY')
      .send(page)
  }

  for (const [path, toText] of [['/llms.txt', llmsText] as const, ['/llms-full.txt', llmsFullText] as const]) {
    app.get(path, async (request, reply) => {
      request.pattern = path
      return reply.type('text/markdown; charset=utf-8').header('cache-control', 'no-cache').send(toText(make().document))
    })
  }

  app.get('/docs', async (request, reply) => show('', request.query, request, reply))
  app.get<{ Params: { page: string } }>('/docs/:page', async (request, reply) => show(request.params.page, request.query, request, reply))
}
