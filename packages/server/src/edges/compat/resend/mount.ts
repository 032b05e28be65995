// The API of Resend at /compat/resend, as its SDK 6.38 calls it. Keys are ours, and each answer is made of our own API.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCalls } from '../../../core/api-call.ts'
import type { ApiError } from '../../../core/errors.ts'
import { admit, type CompatEdge, readJson } from '../request-body.ts'
import { keyRoutes } from './api-keys.ts'
import { domainRoutes } from './domains.ts'
import { draftRoutes } from './drafts.ts'
import { emailRoutes } from './emails.ts'
import { translated } from './errors.ts'
import { inboxAgentRoutes } from './inbox-agent.ts'
import { inboxRoutes } from './inboxes.ts'
import { labelRoutes } from './labels.ts'
import { logRoutes } from './logs.ts'
import { grantRoutes } from './oauth-grants.ts'
import { ResendFailure, type ResendRoute } from './route.ts'
import { suppressionRoutes } from './suppressions.ts'
import { templateRoutes } from './templates.ts'
import { threadRoutes } from './threads.ts'
import { usageRoutes } from './usage.ts'
import { webhookRoutes } from './webhooks.ts'

export const resendPath = '/compat/resend'

export const resendRoutes: readonly ResendRoute[] = [
  ...emailRoutes,
  ...domainRoutes,
  ...keyRoutes,
  ...suppressionRoutes,
  ...templateRoutes,
  ...webhookRoutes,
  ...inboxRoutes,
  ...inboxAgentRoutes,
  ...labelRoutes,
  ...threadRoutes,
  ...draftRoutes,
  ...logRoutes,
  ...grantRoutes,
  ...usageRoutes,
]

/** Adds the routes. Any other path below the base address answers 501. */
export function mountResend(app: FastifyInstance, edge: CompatEdge): void {
  for (const route of resendRoutes) {
    const url = `${resendPath}${route.path}`
    app.route({
      method: route.method,
      url,
      onRequest: async (request, reply) => {
        request.pattern = url.replace(/:(\w+)/g, '{$1}')
        await admit(request, reply, edge, route.bodyBytesMax)
      },
      handler: (request, reply) => answer(edge.apiCalls, route, request, reply),
    })
  }
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: `${resendPath}/*`,
    onRequest: async (request) => {
      request.pattern = `${resendPath}/{path}`
    },
    handler: async (request, reply) => {
      const feature = request.url.slice(resendPath.length).split('?', 1)[0]
      return send(reply, new ResendFailure(501, 'application_error', `${request.method} ${feature} is not offered by Callsign.`))
    },
  })
}

async function answer(apiCalls: ApiCalls, route: ResendRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  try {
    const result = await route.run({
      params: request.params as Record<string, string>,
      query: lastValues(request.query as Record<string, string | string[] | undefined>),
      body: readJson(request),
      headers: request.headers,
      call: apiCalls.withKeyOf(request.raw).call,
    })
    return reply.code(route.status ?? 200).send(result)
  } catch (error) {
    if (error instanceof ResendFailure) return send(reply, error)
    throw error
  }
}

/** A name that occurs several times has its last value. */
const lastValues = (query: Record<string, string | string[] | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]))

const toBody = ({ statusCode, name, message }: ResendFailure) => ({ statusCode, name, message })

const send = (reply: FastifyReply, failure: ResendFailure): FastifyReply => reply.code(failure.statusCode).send(toBody(failure))

/** Every other error below the base address, also one from before a route was found. */
export const resendFailures = {
  path: resendPath,
  shape(error: ApiError, { headers }: FastifyRequest) {
    const failure = translated(error, headers.authorization !== undefined)
    return { status: failure.statusCode, body: toBody(failure) }
  },
}
