// The methods of the Python client, taken from the operations and the names that the TypeScript SDK gives them.
import type { JsonSchema, OpenApiDocument, Parameter } from '../../packages/contract/src/openapi-types.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
import { operationDetails } from '../../packages/contract/src/reference/details.ts'
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

/** Operations without a method of their own, with the reason. */
export const omitted: Record<string, string> = {
  downloadAttachment: 'the address is in `url` of the attachment',
  sendSmsMessage: 'the API answers 405',
  receivePhoneHook: 'phone providers call it',
  receiveImessageCallback: 'iMessage providers call it',
  streamEvents: 'events.follow reads the stream',
}

const isVault = ({ path }: Operation): boolean => path.startsWith('/api/v1/vault')

/** Vault operations carry ciphertext. The vault client calls them through `vault.api`. */
const vaultResource = 'vault_api'

export function methodsOf(operations: readonly Operation[], document: OpenApiDocument, models: Models): Method[] {
  return operations
    .filter(({ id }) => !(id in omitted))
    .map((operation) => methodOf(operation, document, models))
    .toSorted((a, b) => (`${a.resource}.${a.name}` < `${b.resource}.${b.name}` ? -1 : 1))
}

function methodOf(operation: Operation, document: OpenApiDocument, models: Models): Method {
  const shape = document.paths[operation.path]?.[operation.method.toLowerCase()]
  if (!shape) throw new Error(`the OpenAPI document does not have ${operation.id}`)
  const parameters = (shape.parameters ?? []).filter((one): one is Parameter => 'in' in one)
  const body = shape.requestBody?.content['application/json']?.schema
  const success = shape.responses[String(operation.status)]
  const reply = success && 'content' in success ? success.content?.['application/json']?.schema : undefined
  const media = operation.media && (operation.media.startsWith('text/') ? 'str' : 'bytes')
  const fields = (reply?.properties ?? {}) as Record<string, JsonSchema>
  const isUnwrapped = Object.keys(fields).join() === 'data' && !isVault(operation) && !sdkOf(operation).includes('{ data }')
  const result = isUnwrapped ? fields.data : reply
  return {
    operation,
    ...nameOf(operation),
    about: operationDetails[operation.id]?.description ?? operation.summary,
    path: parameters.filter((one) => one.in === 'path').map((one) => argumentOf(one.name, one.schema, true, models, operation)),
    query: parameters.filter((one) => one.in === 'query').map((one) => argumentOf(one.name, one.schema, one.required, models, operation)),
    // A field that the address also takes stands once.
    body: bodyOf(body, models, operation).filter(({ name }) => !parameters.some((one) => one.name === name)),
    reply: media ?? (result ? models.typeOf(result, `${pascal(operation.id)}Reply`) : 'None'),
    isUnwrapped,
  }
}

const sdkOf = (operation: Operation): string => operationDetails[operation.id]?.sdk ?? ''

/** The resource and the method of `callsign.mailRules.list(…)`. Throws when the reference has no such example. */
function nameOf(operation: Operation): { resource: string; name: string } {
  if (isVault(operation)) return { resource: vaultResource, name: snake(operation.id) }
  const call = /callsign\.(?:(\w+)\.)?(\w+)\(/.exec(sdkOf(operation))
  if (!call) throw new Error(`the reference of ${operation.id} has no SDK example: add one, or a reason to bin/python/resources.ts`)
  return { resource: snake(call[1] ?? ''), name: snake(call[2] as string) }
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
