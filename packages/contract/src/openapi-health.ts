// The health endpoints in the OpenAPI document. They are for load balancers, need no key, and are not in the list of operations.
import type { JsonSchema, PathItems } from './openapi-types.ts'

const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const readinessSchema = (statuses: string[]): JsonSchema => ({
  type: 'object',
  required: ['status', 'checks'],
  properties: { status: { enum: statuses }, checks: { type: 'object', additionalProperties: { type: 'boolean' } } },
})

export const healthPaths: PathItems = {
  '/healthz': {
    get: {
      operationId: 'getHealth',
      summary: 'Returns 200 while the process runs.',
      description: 'For the restart of a process that hangs. It asks neither the database nor other servers.',
      tags: ['Health'],
      security: [],
      responses: {
        200: {
          description: 'The process runs.',
          headers,
          content: {
            'application/json': {
              schema: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } },
              example: { status: 'ok' },
            },
          },
        },
      },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'Returns the readiness of each part of the server.',
      description: 'For load balancers. A server that is stopping answers 503 before it closes its ports, so that no request is lost.',
      tags: ['Health'],
      security: [],
      responses: {
        200: {
          description: 'Ready.',
          headers,
          content: {
            'application/json': {
              schema: readinessSchema(['ready']),
              example: { status: 'ready', checks: { database: true, worker: true } },
            },
          },
        },
        503: {
          description: 'Not ready, or shutting down.',
          headers,
          content: {
            'application/json': {
              schema: readinessSchema(['unavailable', 'draining']),
              example: { status: 'unavailable', checks: { database: false, worker: true } },
            },
          },
        },
      },
    },
  },
}
