// Admits and reads the bodies of requests to the API of another service.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCalls } from '../../core/api-call.ts'
import { ApiError } from '../../core/errors.ts'

export type CompatEdge = {
  admitBody: (request: FastifyRequest, reply: FastifyReply, bytesMax: number) => ApiError | undefined
  apiCalls: ApiCalls
}

/** The limit of a body without files. */
const bodyBytesUsual = 1024 * 1024

/** Reads the key before the body, so that the body counts for its organization. Throws the refusal of either. */
export async function admit(request: FastifyRequest, reply: FastifyReply, edge: CompatEdge, bytesMax = bodyBytesUsual): Promise<void> {
  if (request.method === 'GET') return
  request.caller = await edge.apiCalls.authenticate(request.raw)
  const refused = edge.admitBody(request, reply, bytesMax)
  if (refused) throw refused
}

/** The fields or the items in the body. A request without a body, or with an empty one, has none. Throws the refusal of any other body. */
export function readJson({ body }: FastifyRequest): Record<string, unknown> | unknown[] {
  if (body === undefined) return {}
  if (body instanceof Error) throw body
  if (typeof body !== 'object' || body === null) throw new ApiError('validation_error', 'The body must be a JSON object.')
  return body as Record<string, unknown> | unknown[]
}
