// Creates the OpenAPI 3.1 document from the operations. The reference page and generated clients use it.
import type { TObject, TSchema } from 'typebox'
import { errorSentences } from './error-sentences.ts'
import { ErrorBody, type ErrorCode, errorStatuses } from './errors.ts'
import { type EventType, eventTypes } from './events/event-types.ts'
import { Event } from './events/events.ts'
import { healthPaths } from './openapi-health.ts'
import type { Content, JsonSchema, OpenApiDocument, Parameter, PathItems, PathOperation, Reference, Response } from './openapi-types.ts'
import type { Operation } from './operation.ts'
import { codeSamples, pathValues } from './reference/code-samples.ts'
import { operationDetails } from './reference/details.ts'
import type { OperationDetails } from './reference/operation-details.ts'
import { resources } from './reference/resources.ts'
import { sampleId, sampleOf } from './reference/samples.ts'
import { webhookSamples } from './reference/webhook-samples.ts'

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

/** The document for these operations as served under `serverUrl`. Throws when two schemas share an `$id`. */
export function openApiDocument(about: { serverUrl: string; version: string }, operations: readonly Operation[]): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {}
  const paths: PathItems = {}
  const codes = new Set<ErrorCode>()
  for (const operation of operations) {
    const { path, method } = operation
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = pathOperation(operation, schemas, about.serverUrl)
    for (const code of errorCodes(operation)) codes.add(code)
  }
  Object.assign(paths, healthPaths)
  lift(ErrorBody, schemas)
  const places = new Map(Object.keys(resources).map((name, place) => [name, place]))
  const tags = [
    ...new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((operation) => operation.tags))),
  ].toSorted((a, b) => (places.get(a) ?? places.size) - (places.get(b) ?? places.size))
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
    tags: tags.map((name) => ({ name, ...(resources[name] && { description: resources[name] }) })),
    paths,
    webhooks: Object.fromEntries(eventTypes.map((type) => [type, { post: webhookOperation(type, schemas) }])),
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
        ...webhookHeaders,
      },
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, which is svc_live_ and 65 characters.' },
      },
    },
  }
}

const webhookHeader = (name: string, description: string): Record<string, Parameter> => ({
  [name]: { name, in: 'header', required: true, description, schema: { type: 'string' } },
})

const webhookHeaders = {
  ...webhookHeader('webhook-id', 'The id of the event, the same on every attempt and replay. Ignore an id that you have handled.'),
  ...webhookHeader('webhook-timestamp', 'The time of the attempt, in seconds since 1970. Reject one that is more than five minutes off.'),
  ...webhookHeader(
    'webhook-signature',
    'One or two signatures, v1 and base64 of HMAC-SHA256, separated by spaces. One of them must match.',
  ),
}

function pathOperation(operation: Operation, schemas: Record<string, JsonSchema>, serverUrl: string): PathOperation {
  const details = operationDetails[operation.id]
  const parameters: (Parameter | Reference)[] = [
    ...parametersOf(operation.params, 'path', schemas, details && pathValues(operation, details)),
    ...parametersOf(operation.query, 'query', schemas, details?.query),
  ]
  if (operation.idempotent) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  const responses: PathOperation['responses'] =
    operation.status < 400 ? { [operation.status]: successResponse(operation, schemas, details) } : {}
  for (const [status, codes] of Object.entries(codesByStatus(operation))) {
    const [first] = codes as ErrorCode[]
    responses[status] = codes?.length === 1 ? { $ref: `#/components/responses/${first}` } : errorResponse(codes as ErrorCode[])
  }
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(details && { description: details.description }),
    tags: [operation.tag],
    ...(operation.open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body
      ? { requestBody: { required: !operation.bodyOptional, content: json(lift(operation.body, schemas), details?.body) } }
      : {}),
    ...(operation.raw ? { requestBody: { required: true, content: { '*/*': { schema: {} } } } } : {}),
    responses,
    ...(details && { 'x-codeSamples': codeSamples(operation, details, serverUrl) }),
    ...(details?.keys && { 'x-callsign-keys': details.keys }),
    ...(operation.scopes.length > 0 && { 'x-callsign-scopes': [...operation.scopes] }),
  }
}

/** A body of JSON, with an example if there is one. */
const json = (schema: JsonSchema, example?: unknown): Record<string, Content> => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

function parametersOf(
  schema: TObject | undefined,
  place: 'path' | 'query',
  schemas: Record<string, JsonSchema>,
  examples: Record<string, unknown> = {},
): Parameter[] {
  if (!schema) return []
  const required = new Set<string>('required' in schema ? (schema.required as string[]) : [])
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = lift(property, schemas)
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(typeof description === 'string' ? { description } : {}),
      ...(name in examples && { example: examples[name] }),
      schema: rest,
    }
  })
}

function successResponse(operation: Operation, schemas: Record<string, JsonSchema>, details?: OperationDetails): Response {
  const headers = {
    ...requestIdHeader,
    ...(operation.idempotent ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } } : {}),
  }
  if (operation.reply) {
    const example = details && sampleOf(operation.reply, details.reply)
    return { description: 'Success.', headers, content: json(lift(operation.reply, schemas), example) }
  }
  if (operation.media) return { description: 'Success.', headers, content: { [operation.media]: { schema: {} } } }
  return { description: 'Success, without a body.', headers }
}

/** The request of a webhook, signed by the scheme of Standard Webhooks. */
function webhookOperation(type: EventType, schemas: Record<string, JsonSchema>): PathOperation {
  const { meaning, data } = webhookSamples[type]
  const schema = { allOf: [lift(Event, schemas), { type: 'object', properties: { type: { const: type } } }] }
  return {
    operationId: `webhook.${type}`,
    summary: meaning,
    tags: ['Webhooks'],
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: json(schema, sampleOf(Event, { id: sampleId('event'), type, data })) },
    responses: {
      '2XX': {
        description: 'Any status from 200 to 299 confirms the delivery. Any other one causes a retry, and 410 disables the webhook.',
      },
    },
  }
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
