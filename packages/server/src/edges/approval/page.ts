// The page on which a person approves or rejects a draft by a one-time link. A GET only shows it, so link scanners decide nothing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { formType, isForm, readForm } from '../../core/form.ts'
import type { Decision, LinkDecisions } from '../../features/mail/drafts/model.ts'
import { draftPage, noticePage, policy } from './html.ts'

export const approvalRoute = '/approve/{token}'

const bodyBytesMax = 64 * 1024
const reasonCharactersMax = 2000

const gone = 'The link was used, has expired or was revoked, or the draft has changed since. Look for a newer link, or open the console.'

/** Admits a body by its headers, and counts wrong links by the client's address. */
type Tools = {
  admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean): ApiError | undefined
  countWrongSecret(request: FastifyRequest): ApiError | undefined
}

/** Adds GET and POST of the page. */
export function mountApprovalPage(app: FastifyInstance, tools: Tools, decisions: LinkDecisions): void {
  const answer = (reply: FastifyReply, status: number, html: string): FastifyReply =>
    reply
      .code(status)
      .headers({ 'content-security-policy': policy, 'x-robots-tag': 'noindex', 'cross-origin-opener-policy': 'same-origin' })
      .type('text/html; charset=utf-8')
      .send(html)

  const answerGone = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const throttled = tools.countWrongSecret(request)
    if (throttled) throw throttled
    return answer(reply, 404, noticePage('This link is not valid', gone))
  }

  const tokenOf = (request: FastifyRequest): string => (request.params as { token: string }).token

  /** Sets the pattern, so that the log has no token. */
  const admit = async (request: FastifyRequest): Promise<void> => {
    request.pattern = approvalRoute
  }

  const admitForm = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = approvalRoute
    if (!isForm(request)) throw new ApiError('unsupported_media_type', `Send the fields as ${formType}.`)
    const refused = tools.admitBody(request, reply, bodyBytesMax, true)
    if (refused) throw refused
  }

  const show = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const draft = await decisions.find(tokenOf(request))
    return draft ? answer(reply, 200, draftPage(draft)) : answerGone(request, reply)
  }

  const decide = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const decision = readDecision(readForm(request))
    try {
      if (!(await decisions.decide(tokenOf(request), decision, request.id))) return answerGone(request, reply)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) throw error
      return answer(reply, error.status, noticePage('The message cannot be sent', error.message))
    }
    return decision.approve
      ? answer(reply, 200, noticePage('Approved', 'The message is on its way. You can close this page.'))
      : answer(reply, 200, noticePage('Rejected', 'The draft is deleted, and the agent receives the reason. You can close this page.'))
  }

  app.route({ method: 'GET', url: '/approve/:token', onRequest: admit, handler: show })
  app.route({ method: 'POST', url: '/approve/:token', onRequest: admitForm, handler: decide })
}

function readDecision(fields: URLSearchParams): Decision {
  const decision = fields.get('decision')
  if (decision === 'approve') return { approve: true }
  if (decision !== 'reject') throw new ApiError('validation_error', 'decision must be approve or reject.')
  const reason = (fields.get('reason') ?? '').replaceAll('\0', '').toWellFormed().trim().slice(0, reasonCharactersMax)
  return { approve: false, reason: reason || null }
}
