// Serves the OpenAPI document, the documentation, and its index for language models.
import { openApiDocument } from '@callsign/contract/openapi'
import type { OpenApiDocument } from '@callsign/contract/openapi-types'
import type { Operation } from '@callsign/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Guide, movedTo, readGuides, readImage, siteAddress } from './guides.ts'
import { contentSecurityPolicy, iconSource } from './layout.ts'
import { llmsFullText, llmsText } from './reference/llms.ts'
import { createSite, type Site } from './site.ts'

type Made = { document: OpenApiDocument; json: string; guides: Guide[]; site: Site }

export const docPaths = ['/openapi.json', '/docs', '/llms.txt', '/llms-full.txt']

/** Adds /openapi.json, /docs with its pages, and /llms.txt. `serverUrl` is called on first use, when the port is known. */
export function mountDocs(app: FastifyInstance, about: { serverUrl: () => string; version: string }, operations: Operation[]): void {
  let made: Made | null = null

  const make = (): Made => {
    if (made === null) {
      const document = openApiDocument({ serverUrl: about.serverUrl(), version: about.version }, operations)
      const guides = readGuides()
      made = { document, json: JSON.stringify(document), guides, site: createSite(document, guides) }
    }
    return made
  }

  app.get('/openapi.json', async (request, reply) => {
    request.pattern = '/openapi.json'
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(make().json)
  })

  for (const [path, toText] of [['/llms.txt', llmsText] as const, ['/llms-full.txt', llmsFullText] as const]) {
    app.get(path, async (request, reply) => {
      request.pattern = path
      const { document, guides } = make()
      return reply.type('text/markdown; charset=utf-8').header('cache-control', 'no-cache').send(toText(document, guides))
    })
  }

  app.get('/docs', async (request, reply) => sendPage(make().site, '', request, reply))
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => sendPage(make().site, request.params['*'], request, reply))
}

/** Sends the page, Markdown, image or search result at this path below /docs. */
function sendPage(site: Site, path: string, request: FastifyRequest, reply: FastifyReply): unknown {
  request.pattern = '/docs/…'
  reply.headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
  const target = movedTo(path)
  if (target !== null) return reply.redirect(siteAddress(target), 301)
  if (path === 'icon.svg') return reply.type('image/svg+xml').send(iconSource)
  if (path.endsWith('.md')) {
    const text = site.markdown(path === 'index.md' ? '' : path.slice(0, -3))
    return text === null ? sendHtml(reply.code(404), site.missing()) : reply.type('text/markdown; charset=utf-8').send(text)
  }
  if (path.startsWith('images/')) {
    const image = readImage(path.slice('images/'.length))
    return image === null ? sendHtml(reply.code(404), site.missing()) : reply.type('image/png').send(image)
  }
  if (path === 'search.json')
    return reply.type('application/json; charset=utf-8').send(JSON.stringify({ data: site.search((request.query as { q?: unknown }).q) }))
  const page = site.page(path, request.query as { q?: unknown })
  return page === null ? sendHtml(reply.code(404), site.missing()) : sendHtml(reply, page)
}

const sendHtml = (reply: FastifyReply, page: string): unknown =>
  reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': contentSecurityPolicy, 'x-frame-options': 'DENY' }).send(page)
