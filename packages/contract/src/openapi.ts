// Creates the OpenAPI 3.1 document from the operations. The reference page and generated clients use it.
import type { TObject, TSchema } from 'typebox'
import { errorSentences } from './error-sentences.ts'
import { ErrorBody, type ErrorCode, errorStatuses } from './errors.ts'
import type { Operation } from './operation.ts'

/** Any JSON Schema, draft 2020-12. */
export type JsonSchema = Record<string, unknown>

export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; description?: string; schema: JsonSchema }

export type Reference = { $ref: string }

export type Response = {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, { schema: JsonSchema }>
}

export type PathOperation = {
  operationId: string
  summary: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, Response | Reference>
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string }[]
  security: Record<string, string[]>[]
  tags: { name: string }[]
  paths: Record<string, Record<string, PathOperation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Response>
    headers: Record<string, { description: string; schema: JsonSchema }>
    parameters: Record<string, Parameter>
    securitySchemes: Record<string, JsonSchema>
  }
}

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

/** The document for these operations as served under `serverUrl`. Throws when two schemas share an `$id`. */
export function openApiDocument(about: { serverUrl: string; version: string }, operations: readonly Operation[]): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {}
  const paths: OpenApiDocument['paths'] = {}
  const codes = new Set<ErrorCode>()
  for (const operation of operations) {
    const { path, method } = operation
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = pathOperation(operation, schemas)
    for (const code of errorCodes(operation)) codes.add(code)
  }
  Object.assign(paths, healthPaths)
  lift(ErrorBody, schemas)
  const tags = [...new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((operation) => operation.tags)))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Callsign',
      version: about.version,
      description: 'Communication identities for AI agents, self-hosted.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: about.serverUrl }],
    security: [{ bearerAuth: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: Object.fromEntries([...codes].map((code) => [code, errorResponse([code])])),
      headers: {
        'X-Request-Id': { description: 'The id of this request, for questions to the operator.', schema: { type: 'string' } },
        'Idempotent-Replayed': {
          description: 'true if this repeats the first response to the Idempotency-Key.',
          schema: { const: 'true' },
        },
        'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
        'WWW-Authenticate': { description: 'The required authentication scheme.', schema: { const: 'Bearer' } },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'Makes the request safe to repeat. The same key with the same body returns the first response, for 7 days.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
      },
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, which is svc_live_ and 65 characters.' },
      },
    },
  }
}

function pathOperation(operation: Operation, schemas: Record<string, JsonSchema>): PathOperation {
  const parameters: (Parameter | Reference)[] = [
    ...parametersOf(operation.params, 'path', schemas),
    ...parametersOf(operation.query, 'query', schemas),
  ]
  if (operation.idempotent) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  const responses: PathOperation['responses'] = operation.status < 400 ? { [operation.status]: successResponse(operation, schemas) } : {}
  for (const [status, codes] of Object.entries(codesByStatus(operation))) {
    const [first] = codes as ErrorCode[]
    responses[status] = codes?.length === 1 ? { $ref: `#/components/responses/${first}` } : errorResponse(codes as ErrorCode[])
  }
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [operation.tag],
    ...(operation.open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body
      ? { requestBody: { required: !operation.bodyOptional, content: { 'application/json': { schema: lift(operation.body, schemas) } } } }
      : {}),
    ...(operation.raw ? { requestBody: { required: true, content: { '*/*': { schema: {} } } } } : {}),
    responses,
  }
}

function parametersOf(schema: TObject | undefined, place: 'path' | 'query', schemas: Record<string, JsonSchema>): Parameter[] {
  if (!schema) return []
  const required = new Set<string>('required' in schema ? (schema.required as string[]) : [])
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = lift(property, schemas)
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
    }
  })
}

function successResponse(operation: Operation, schemas: Record<string, JsonSchema>): Response {
  const headers = {
    ...requestIdHeader,
    ...(operation.idempotent ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } } : {}),
  }
  if (operation.reply) {
    return { description: 'Success.', headers, content: { 'application/json': { schema: lift(operation.reply, schemas) } } }
  }
  if (operation.media) return { description: 'Success.', headers, content: { [operation.media]: { schema: {} } } }
  return { description: 'Success, without a body.', headers }
}

/** The operation's own error codes, and those that come with a key, parameters, a body or an Idempotency-Key. */
function errorCodes(operation: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ['validation_error']
  if (!operation.open) codes.push('unauthorized', 'forbidden', 'rate_limited')
  if (operation.params) codes.push('not_found')
  if (operation.body || operation.raw) codes.push('payload_too_large', 'unsupported_media_type')
  if (operation.idempotent) codes.push('idempotency_in_progress', 'idempotency_key_reused')
  codes.push(...(operation.errors ?? []), 'uri_too_long', 'internal_error', 'unavailable')
  return [...new Set(codes)]
}

function codesByStatus(operation: Operation): Partial<Record<number, ErrorCode[]>> {
  const byStatus: Partial<Record<number, ErrorCode[]>> = {}
  for (const code of errorCodes(operation)) {
    byStatus[errorStatuses[code]] ??= []
    byStatus[errorStatuses[code]]?.push(code)
  }
  if (operation.codesOf400) byStatus[400] = [...(byStatus[400] ?? []), ...operation.codesOf400]
  return byStatus
}

function errorResponse(codes: ErrorCode[]): Response {
  const first = codes[0] as ErrorCode
  const headers: Record<string, Reference> = { ...requestIdHeader }
  if (first === 'unauthorized') headers['WWW-Authenticate'] = { $ref: '#/components/headers/WWW-Authenticate' }
  if (first === 'rate_limited' || first === 'unavailable') headers['Retry-After'] = { $ref: '#/components/headers/Retry-After' }
  return {
    description: codes.map((code) => `\`${code}\`: ${errorSentences[code] ?? 'See the message.'}`).join(' '),
    headers,
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } },
          ],
        },
      },
    },
  }
}

/** The schema with every part that has an `$id` moved to the components and referenced, and records as additionalProperties. */
function lift(schema: TSchema | JsonSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  const { $id, patternProperties, ...rest } = schema as JsonSchema
  const lifted: JsonSchema = {}
  for (const [key, value] of Object.entries(rest)) {
    lifted[key] = key === 'properties' ? mapValues(value as JsonSchema, (property) => lift(property, schemas)) : liftAny(value, schemas)
  }
  const patterns = patternProperties as JsonSchema | undefined
  if (patterns && Object.keys(patterns).join() === '^.*$') lifted.additionalProperties = lift(patterns['^.*$'] as JsonSchema, schemas)
  else if (patterns) lifted.patternProperties = mapValues(patterns, (pattern) => lift(pattern, schemas))
  if (typeof $id !== 'string') return lifted
  const known = schemas[$id]
  if (known && JSON.stringify(known) !== JSON.stringify(lifted)) throw new Error(`two schemas have the $id ${$id}`)
  schemas[$id] = lifted
  return { $ref: `#/components/schemas/${$id}` }
}

function liftAny(value: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((item) => liftAny(item, schemas))
  return typeof value === 'object' && value !== null ? lift(value as JsonSchema, schemas) : value
}

const mapValues = (map: JsonSchema, change: (value: JsonSchema) => JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value as JsonSchema)]))

const readinessSchema = (statuses: string[]): JsonSchema => ({
  type: 'object',
  required: ['status', 'checks'],
  properties: { status: { enum: statuses }, checks: { type: 'object', additionalProperties: { type: 'boolean' } } },
})

/** The health endpoints for load balancers. They need no key and are not in the list of operations. */
const healthPaths: OpenApiDocument['paths'] = {
  '/healthz': {
    get: {
      operationId: 'getHealth',
      summary: 'Returns 200 while the process runs.',
      tags: ['Health'],
      security: [],
      responses: {
        200: {
          description: 'The process runs.',
          headers: requestIdHeader,
          content: { 'application/json': { schema: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } } } },
        },
      },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'Returns the readiness of each part of the server.',
      tags: ['Health'],
      security: [],
      responses: {
        200: {
          description: 'Ready.',
          headers: requestIdHeader,
          content: { 'application/json': { schema: readinessSchema(['ready']) } },
        },
        503: {
          description: 'Not ready, or shutting down.',
          headers: requestIdHeader,
          content: { 'application/json': { schema: readinessSchema(['unavailable', 'draining']) } },
        },
      },
    },
  },
}
