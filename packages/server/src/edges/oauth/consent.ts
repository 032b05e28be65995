// The authorization endpoint: the page on which a person in a session of the console gives an app access, and the answer to it.

import { type Toolset, toolsets } from '@callsign/contract/tools/tool'
import { tools } from '@callsign/contract/tools/tool-table'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../../core/errors.ts'
import { isForm, readForm } from '../../core/form.ts'
import { isToolset, type MailApproval, mailApprovals, OAuthFailure, responseUrl } from '../../features/account/oauth/model.ts'
import type { Authorization, Choice, OAuth } from '../../features/account/oauth/operations.ts'
import { csrfOf, isCsrf, type Session } from '../../features/account/sessions/model.ts'
import { consentPage, continuePage, pageHeaders, refusalPage, returnPage } from './consent-page.ts'
import { checkOffered, oauthPaths, resourceOf } from './metadata.ts'

export type ConsentEdge = {
  oauth: OAuth
  publicUrl: () => string
  /** Origins that pages of this server may have. */
  originsOf: (publicUrl: string) => string[]
  /** The session cookie of a request, or null. */
  cookieOf: (request: FastifyRequest) => string | null
  findSession: (cookie: string, request: FastifyRequest) => Promise<Session | null>
  admitBody: (request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean) => ApiError | undefined
}

const bodyBytesMax = 64 * 1024

/** One request of a signed-in person, checked. */
type Asked = { session: Session; cookie: string; authorization: Authorization; query: string }

function createConsent(edge: ConsentEdge) {
  const { oauth, publicUrl } = edge

  const refuse = (reply: FastifyReply, status: number, message: string, back: string | null = null): FastifyReply =>
    reply.code(status).headers(pageHeaders).send(refusalPage(message, back))

  const responseTo = ({ request }: Authorization, parameters: Record<string, string>): string =>
    responseUrl(request.redirectUri, { ...parameters, state: request.state, iss: publicUrl() })

  const answer = (reply: FastifyReply, { authorization }: Asked, parameters: Record<string, string>): FastifyReply =>
    reply.headers(pageHeaders).send(returnPage(responseTo(authorization, parameters)))

  /** The request, or null when the reply has been sent. */
  async function read(request: FastifyRequest, reply: FastifyReply): Promise<Asked | null> {
    const query = queryOf(request)
    const cookie = edge.cookieOf(request)
    const session = cookie === null ? null : await edge.findSession(cookie, request)
    if (cookie === null || session === null) {
      reply.redirect(`/console/?next=${encodeURIComponent(oauthPaths.consent + query)}`, 302)
      return null
    }
    if (!oauth.mayConnect(session)) {
      refuse(reply, 403, 'Only an owner of the organization can connect apps. Ask an owner.')
      return null
    }
    try {
      const authorization = await oauth.readAuthorization(new URLSearchParams(query), resourceOf(publicUrl()))
      const { problem } = authorization
      if (problem === null) return { session, cookie, authorization, query }
      refuse(reply, 400, problem.message, responseTo(authorization, { error: problem.code, error_description: problem.message }))
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error
      refuse(reply, 400, error.message)
    }
    return null
  }

  const show = async (reply: FastifyReply, { session, cookie, authorization, query }: Asked, problem: string | null) => {
    const { scopes } = authorization.request
    const view = {
      authorization,
      organizationName: session.organizationName,
      person: session.member?.name || session.member?.email || (session.member ? 'the owner' : 'an API key'),
      agents: await oauth.listAgents(session.organizationId),
      proposed: proposedToolsets(scopes),
      isReadOnlyProposed: scopes.length > 0 && !scopes.some((scope) => !scope.endsWith(':read')),
      action: oauthPaths.consent + query,
      csrf: csrfOf(cookie),
      problem,
    }
    return reply
      .code(problem === null ? 200 : 400)
      .headers(pageHeaders)
      .send(consentPage(view))
  }

  const ask = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const asked = await read(request, reply)
    return asked ? show(reply, asked, null) : reply
  }

  const decide = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const form = readFormOf(request)
    const cookie = edge.cookieOf(request)
    if (!isOwnForm(request, edge.originsOf(publicUrl())) || cookie === null || !isCsrf(cookie, form.get('csrf')))
      return refuse(reply, 403, 'The answer did not come from the page of this server. Start again in the app.')
    const asked = await read(request, reply)
    if (!asked) return reply
    if (form.get('decision') !== 'allow') return answer(reply, asked, { error: 'access_denied' })
    const choice = readChoice(form)
    if (typeof choice === 'string') return show(reply, asked, choice)
    const code = await oauth
      .approve(asked.session, asked.authorization, choice, { resource: resourceOf(publicUrl()), requestId: request.id })
      .catch((error: unknown) => {
        if (error instanceof OAuthFailure) return error
        throw error
      })
    return code instanceof OAuthFailure ? show(reply, asked, code.message) : answer(reply, asked, { code })
  }

  return { ask, decide }
}

/** Adds the pages. All answer 404 where OAuth is not offered. */
export function mountConsent(app: FastifyInstance, edge: ConsentEdge): void {
  const { ask, decide } = createConsent(edge)
  const admit =
    (path: string) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      request.pattern = path
      checkOffered(edge.publicUrl())
      const refused = request.method === 'POST' ? edge.admitBody(request, reply, bodyBytesMax, true) : undefined
      if (refused) throw refused
    }
  const { authorize, consent } = oauthPaths
  app.route({
    method: 'GET',
    url: authorize,
    onRequest: admit(authorize),
    handler: async (request, reply) => reply.headers(pageHeaders).send(continuePage(consent + queryOf(request))),
  })
  app.route({ method: 'GET', url: consent, onRequest: admit(consent), handler: ask })
  app.route({ method: 'POST', url: consent, onRequest: admit(consent), handler: decide })
}

/**
 * True if a page of this server posted the form. Where a proxy adds the policy `no-referrer`, browsers send `Origin: null`. They name the site
 * of the page in Sec-Fetch-Site too, which a page cannot set.
 */
function isOwnForm({ headers }: FastifyRequest, origins: string[]): boolean {
  const { origin = '' } = headers
  return origins.includes(origin) || (origin === 'null' && headers['sec-fetch-site'] === 'same-origin')
}

const queryOf = (request: FastifyRequest): string => {
  const at = request.url.indexOf('?')
  return at < 0 ? '' : request.url.slice(at)
}

/** Without its CSRF value, a body that is not a form is refused with a page. */
const readFormOf = (request: FastifyRequest): URLSearchParams => {
  const fields = readForm(request)
  return isForm(request) ? fields : new URLSearchParams()
}

/** The choice, or the sentence with its correction. */
function readChoice(form: URLSearchParams): Choice | string {
  const handles = [...new Set(form.getAll('agent'))]
  const chosen = [...new Set(form.getAll('toolset'))].filter(isToolset)
  const approval = form.get('mail_approval')
  if (handles.length === 0) return 'Choose at least one agent.'
  if (chosen.length === 0) return 'Choose at least one kind of tool.'
  if (!mailApprovals.includes(approval as MailApproval)) return 'Choose how mail is approved.'
  return { handles, toolsets: chosen, isReadOnly: form.get('read_only') === '1', mailApproval: approval as MailApproval }
}

/** The toolsets that need a scope of the request. Without scopes, all but the vault. */
function proposedToolsets(scopes: string[]): Set<Toolset> {
  if (scopes.length === 0) return new Set(toolsets.filter((name) => name !== 'vault'))
  return new Set(tools.filter((tool) => tool.scopes.some((scope) => scopes.includes(scope))).map((tool) => tool.toolset))
}
