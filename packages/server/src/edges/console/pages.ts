// Serves the built console below /console.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuiltFile, BuiltFiles } from './built-files.ts'
import { notBuiltPage, pageHeaders, vaultPage } from './page-headers.ts'
import { loaderName, writeLoader } from './vault-loader.ts'

const indexPage = 'index.html'

/** The page for a path that is not a file. Paths below the pages may hold dots, such as those of mail addresses. */
const pageOf = (path: string): string => (path === 'vault' || path.startsWith('vault/') ? vaultPage : indexPage)

/** Adds `/console` and `/console/*`. */
export function mountPages(app: FastifyInstance, files: BuiltFiles, publicUrl: () => string): void {
  app.get('/console', async (request, reply) => {
    request.pattern = '/console'
    return reply.redirect('/console/', 302)
  })

  app.get('/console/*', async (request, reply) => {
    request.pattern = '/console/*'
    const path = (request.params as { '*': string })['*']
    if (path.startsWith('api/')) return reply.callNotFound()
    if (path === loaderName) {
      const loader = await writeLoader(files, publicUrl())
      if (loader === null) return reply.callNotFound()
      return reply
        .headers({ 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="callsign-vault.html"' })
        .type('text/html; charset=utf-8')
        .send(loader)
    }
    const file = await files.find(path)
    if (file) return sendFile(request, reply, path, file)
    if (path.startsWith('assets/')) return reply.callNotFound()
    const name = pageOf(path)
    const page = await files.find(name)
    if (page) return sendFile(request, reply, name, page)
    return reply.code(503).headers(pageHeaders(name)).type('text/html; charset=utf-8').send(notBuiltPage)
  })
}

function sendFile(request: FastifyRequest, reply: FastifyReply, name: string, file: BuiltFile): FastifyReply {
  const { etag, type, isHashed } = file
  reply.headers(pageHeaders(name)).headers({
    etag,
    vary: 'Accept-Encoding',
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const [encoding, bytes] = encodingFor(accepted, file)
  if (encoding !== null) reply.header('content-encoding', encoding)
  return reply.type(type).send(bytes)
}

/** The smallest form that the browser accepts. A coding with q=0 is refused by the browser (RFC 9110 §12.4.2). */
function encodingFor(accepted: string, file: BuiltFile): [string | null, Buffer] {
  const codings = new Set(
    accepted
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.split(';')[0] as string),
  )
  if (file.br && codings.has('br')) return ['br', file.br]
  if (file.gzip && codings.has('gzip')) return ['gzip', file.gzip]
  return [null, file.bytes]
}
