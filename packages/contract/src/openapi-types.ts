// The parts of an OpenAPI 3.1 document that this contract uses.
import type { CodeSample } from './reference/operation-details.ts'

/** Any JSON Schema, draft 2020-12. */
export type JsonSchema = Record<string, unknown>

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  example?: unknown
  schema: JsonSchema
}

export type Reference = { $ref: string }

/** A body of one content type. */
export type Content = { schema: JsonSchema; example?: unknown }

export type Response = {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, Content>
}

export type PathOperation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Record<string, Content> }
  responses: Record<string, Response | Reference>
  /** The example in each language that has it. Documentation tools show this extension. */
  'x-codeSamples'?: CodeSample[]
  /** `organization` if the keys of agents get 403. */
  'x-callsign-keys'?: 'organization'
  /** The key needs one of these scopes. */
  'x-callsign-scopes'?: string[]
}

export type PathItems = Record<string, Record<string, PathOperation>>

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string }[]
  security: Record<string, string[]>[]
  tags: { name: string; description?: string }[]
  paths: PathItems
  /** The requests that a webhook makes, by event type. */
  webhooks: PathItems
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Response>
    headers: Record<string, { description: string; schema: JsonSchema }>
    parameters: Record<string, Parameter>
    securitySchemes: Record<string, JsonSchema>
  }
}
