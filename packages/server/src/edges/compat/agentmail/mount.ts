// The API of AgentMail at /compat/agentmail, as its SDK 0.5 calls it. Keys are ours, and each answer is made of our own API.
import type { ErrorCode } from '@callsign/contract/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCalls } from '../../../core/api-call.ts'
import type { ApiError, ErrorDetail } from '../../../core/errors.ts'
import { admit, type CompatEdge, readJson } from '../request-body.ts'
import { accountRoutes } from './account.ts'
import { keyRoutes } from './api-keys.ts'
import { domainRoutes } from './domains.ts'
import { draftRoutes } from './drafts.ts'
import { inboxRoutes } from './inboxes.ts'
import { labelEventRoutes } from './label-events.ts'
import { listRoutes } from './lists.ts'
import { messageRoutes } from './messages.ts'
import { metricRoutes } from './metrics.ts'
import { AgentMailFailure, type AgentMailRoute, notThere, podId, TextAnswer, wrongValue } from './route.ts'
import { threadRoutes } from './threads.ts'
import { usageRoutes } from './usage.ts'
import { webhookRoutes } from './webhooks.ts'

const rootPath = '/compat/agentmail'
const basePath = `${rootPath}/v0`

/** Routes by resource. Those of a pod exist twice. */
const ownRoutes: readonly AgentMailRoute[] = [
  ...inboxRoutes,
  ...messageRoutes,
  ...threadRoutes,
  ...draftRoutes,
  ...listRoutes,
  ...webhookRoutes,
  ...labelEventRoutes,
  ...metricRoutes,
  ...usageRoutes,
  ...domainRoutes,
  ...keyRoutes,
  ...accountRoutes,
]

/** Every route with its whole path. */
export const agentMailRoutes: readonly AgentMailRoute[] = ownRoutes.flatMap((route) => [
  { ...route, path: `${basePath}${route.path}` },
  ...(route.isInPod ? [{ ...route, path: `${basePath}/pods/:pod_id${route.path}` }] : []),
])

/** Adds the routes. Any other path below the base address answers 501. */
export function mountAgentMail(app: FastifyInstance, edge: CompatEdge): void {
  for (const route of agentMailRoutes) {
    app.route({
      method: route.method,
      url: route.path,
      onRequest: async (request, reply) => {
        request.pattern = route.path.replace(/:(\w+)/g, '{$1}')
        await admit(request, reply, edge, route.bodyBytesMax)
      },
      handler: (request, reply) => answer(edge.apiCalls, route, request, reply),
    })
  }
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: `${basePath}/*`,
    onRequest: async (request) => {
      request.pattern = `${basePath}/{path}`
    },
    handler: async (request, reply) => {
      const feature = request.url.slice(basePath.length).split('?', 1)[0]
      const message = `${request.method} ${feature} is not offered by Callsign.`
      return send(reply, new AgentMailFailure(501, 'NotOfferedError', 'not_offered', message))
    },
  })
}

async function answer(apiCalls: ApiCalls, route: AgentMailRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  try {
    const params = request.params as Record<string, string>
    if (params.pod_id !== undefined && params.pod_id !== podId) throw notThere('Pod')
    const result = await route.run({
      params,
      query: request.query as Record<string, string | string[] | undefined>,
      body: bodyOf(request),
      headers: request.headers,
      call: apiCalls.withKeyOf(request.raw).call,
    })
    if (result instanceof TextAnswer) return reply.type(result.contentType).send(result.text)
    return result === undefined ? reply.code(204).send() : reply.code(200).send(result)
  } catch (error) {
    if (error instanceof AgentMailFailure) return send(reply, error)
    throw error
  }
}

function bodyOf(request: FastifyRequest): Record<string, unknown> {
  const body = readJson(request)
  if (Array.isArray(body)) throw wrongValue('The body must be a JSON object.')
  return body
}

const toBody = ({ name, code, message }: AgentMailFailure, errors: ErrorDetail[] = []) => ({
  name,
  code,
  message,
  ...(errors.length > 0 && { errors }),
})

const send = (reply: FastifyReply, failure: AgentMailFailure): FastifyReply => reply.code(failure.statusCode).send(toBody(failure))

/** Every other error below the base address, also one from before a route was found. */
export const agentMailFailures = {
  path: rootPath,
  shape(error: ApiError) {
    const failure = translated(error)
    return { status: failure.statusCode, body: toBody(failure, error.details) }
  },
}

/** Error names of AgentMail by our codes. The status is ours. */
const names: Partial<Record<ErrorCode, string>> = {
  validation_error: 'ValidationError',
  draft_incomplete: 'ValidationError',
  unauthorized: 'UnauthorizedError',
  forbidden: 'ForbiddenError',
  approval_required: 'ForbiddenError',
  recipient_not_allowed: 'MessageRejectedError',
  recipient_suppressed: 'MessageRejectedError',
  not_found: 'NotFoundError',
  rate_limited: 'RateLimitError',
  sending_limit_reached: 'LimitExceededError',
  storage_quota_exceeded: 'LimitExceededError',
  internal_error: 'ServerError',
}

/** The one translator of our errors. */
function translated({ status, code, message, details = [] }: ApiError): AgentMailFailure {
  const reasons = details.map(({ path, message: reason }) => `${path} ${reason}`.trim())
  const name = names[code] ?? (status === 409 ? 'ConflictError' : status < 500 ? 'ValidationError' : 'ServerError')
  return new AgentMailFailure(status, name, code, reasons.length > 0 ? reasons.join('; ') : message)
}
