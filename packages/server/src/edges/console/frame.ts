// Answers a form with the HTML that it posted, in a sandbox, so that a page can show mail with inline styles in a frame.
// The page's own policy forbids those, and a frame without an address of its own would inherit that policy.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, forbidden } from '../../core/errors.ts'
import { formType, isForm, readForm } from '../../core/form.ts'
import { type Client, isCsrf, type Session } from '../../features/account/sessions/model.ts'
import { cookieOf, createBrowserReader, originsOf, readCookie } from './client.ts'
import type { BodyTools } from './routes.ts'

export const framePath = '/console/frame'

const bodyBytesMax = 12 * 1024 * 1024

/** No script, no form and no origin of its own. Remote images load only when the person asked for them. */
const policy = (withImages: boolean): string =>
  [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data: 'self'${withImages ? ' https: http:' : ''}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ')

type Options = {
  publicUrl: () => string
  trustedProxies: string[]
  findSession: (cookie: string, client: Client) => Promise<Session | null>
}

/** Adds the route. The HTML is sent back to the session that posted it and is not stored. */
export function mountFrame(app: FastifyInstance, tools: BodyTools, { publicUrl, trustedProxies, findSession }: Options): void {
  const readBrowser = createBrowserReader(trustedProxies)
  const sessionCookieOf = (request: FastifyRequest): string | null => readCookie(request.raw, cookieOf(publicUrl()).name)

  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = framePath
    const { origin } = request.headers
    if (origin === undefined || !originsOf(publicUrl()).includes(origin)) throw forbidden('Only the console shows mail here.')
    const cookie = sessionCookieOf(request)
    if (cookie === null || !(await findSession(cookie, readBrowser(request.raw, request.id))))
      throw forbidden('Sign in to the console first.')
    if (!isForm(request)) throw new ApiError('unsupported_media_type', `Send the fields as ${formType}.`)
    const refused = tools.admitBody(request, reply, bodyBytesMax, true)
    if (refused) throw refused
  }

  const show = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const fields = readForm(request)
    if (!isCsrf(sessionCookieOf(request) as string, fields.get('csrf'))) throw forbidden('csrf must be the value of the session.')
    return reply
      .headers({
        'content-security-policy': policy(fields.get('images') === '1'),
        'x-dns-prefetch-control': 'off',
        'cross-origin-resource-policy': 'same-origin',
      })
      .type('text/html; charset=utf-8')
      .send(fields.get('html') ?? '')
  }

  app.route({ method: 'POST', url: framePath, onRequest: admit, handler: show })
}
