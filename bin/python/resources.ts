// The methods of the Python client, taken from the operations and the names that the TypeScript SDK gives them.
import type { JsonSchema, OpenApiDocument, Parameter } from '../../packages/contract/src/openapi-types.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { type Call, callsOf } from '../calls.ts'
import { type Models, parameterName, pascal, snake } from './types.ts'

export type Argument = { name: string; parameter: string; type: string; isRequired: boolean }

export type Method = {
  operation: Operation
  /** The attribute of the client, such as `mail_rules`. Empty for a method of the client itself. */
  resource: string
  name: string
  about: string
  path: Argument[]
  query: Argument[]
  body: Argument[]
  /** The type of the result, `bytes` for a download and `None` for an empty response. */
  reply: string
  /** True if the result is the field `data` of the reply, as in the TypeScript client. */
  isUnwrapped: boolean
}

/** Vault operations carry ciphertext. The vault client calls them through `vault.api`. */
const vaultResource = 'vaultApi'

export function methodsOf(operations: readonly Operation[], document: OpenApiDocument, models: Models): Method[] {
  return callsOf(operations, vaultResource)
    .map((call) => methodOf(call, document, models))
    .toSorted((a, b) => (`${a.resource}.${a.name}` < `${b.resource}.${b.name}` ? -1 : 1))
}

function methodOf(call: Call, document: OpenApiDocument, models: Models): Method {
  const { operation, isUnwrapped } = call
  const shape = document.paths[operation.path]?.[operation.method.toLowerCase()]
  if (!shape) throw new Error(`the OpenAPI document does not have ${operation.id}`)
  const parameters = (shape.parameters ?? []).filter((one): one is Parameter => 'in' in one)
  const body = shape.requestBody?.content['application/json']?.schema
  const success = shape.responses[String(operation.status)]
  const reply = success && 'content' in success ? success.content?.['application/json']?.schema : undefined
  const fields = (reply?.properties ?? {}) as Record<string, JsonSchema>
  const result = isUnwrapped ? fields.data : reply
  return {
    operation,
    resource: snake(call.resource),
    name: snake(call.name),
    about: call.about,
    path: parameters.filter((one) => one.in === 'path').map((one) => argumentOf(one.name, one.schema, true, models, operation)),
    query: parameters.filter((one) => one.in === 'query').map((one) => argumentOf(one.name, one.schema, one.required, models, operation)),
    // A field that the address also takes stands once.
    body: bodyOf(body, models, operation).filter(({ name }) => !parameters.some((one) => one.name === name)),
    reply: call.media ? (call.media === 'text' ? 'str' : 'bytes') : result ? models.typeOf(result, `${pascal(operation.id)}Reply`) : 'None',
    isUnwrapped,
  }
}

function argumentOf(name: string, schema: JsonSchema, isRequired: boolean, models: Models, operation: Operation): Argument {
  return { name, parameter: parameterName(name), type: models.typeOf(schema, `${pascal(operation.id)}${pascal(name)}`), isRequired }
}

function bodyOf(schema: JsonSchema | undefined, models: Models, operation: Operation): Argument[] {
  if (!schema) return []
  if (!schema.properties) throw new Error(`the body of ${operation.id} is not an object with properties`)
  const required = new Set((schema.required ?? []) as string[])
  return Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) =>
    argumentOf(name, property, required.has(name), models, operation),
  )
}
