// Checks every answer of the server against the OpenAPI document that the server itself serves.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Reference = { $ref: string }
type Declared = { content?: Record<string, { schema: object }> }
type Operation = { operationId: string; responses: Record<string, Declared | Reference> }
export type ApiDocument = { paths: Record<string, Record<string, Operation>>; components: Record<string, Record<string, Declared>> }

/** A request and its answer. `body` is the parsed JSON, or the bytes of any other content type. */
export type Exchange = { method: string; path: string; status: number; headers: Headers; body: unknown }

/** RFC 3339 in UTC with milliseconds is the only form in the contract. */
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Returns a function that throws when an answer differs from the document in status, content type, body or request id. */
export function createContractCheck(document: ApiDocument): (exchange: Exchange) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('date-time', (text: string) => timestamp.test(text) && !Number.isNaN(Date.parse(text)))
  ajv.addSchema({ $id: 'document', ...document })
  const validators = new Map<string, ValidateFunction>()
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/[.+]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))

  const check = (pointer: string, body: unknown, where: string): void => {
    let validate = validators.get(pointer)
    if (!validate) {
      validate = ajv.compile({ $ref: `document#${pointer}` })
      validators.set(pointer, validate)
    }
    if (!validate(body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)?.slice(0, 2000)}`)
  }

  return ({ method, path, status, headers, body }) => {
    const where = `${method} ${path} answered ${status}`
    if (!/^req_[0-7][0-9a-z]{25}$/.test(headers.get('x-request-id') ?? '')) throw new Error(`${where} without X-Request-Id`)
    const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
    if (status >= 400 && path !== '/readyz') {
      if (!isJson) throw new Error(`${where} without a JSON error`)
      check('/components/schemas/Error', body, where)
      const { request_id } = (body as { error: { request_id: string } }).error
      if (request_id !== headers.get('x-request-id')) throw new Error(`${where} with two request ids`)
    }
    const bare = path.split('?', 1)[0] as string
    const found = templates.find(({ pattern }) => pattern.test(bare))
    const operation = found && document.paths[found.template]?.[method.toLowerCase()]
    if (!operation) {
      if (status !== 404 && status !== 405) throw new Error(`${where}, which no operation declares`)
      return
    }
    const declared = operation.responses[status]
    if (!declared) throw new Error(`${where}: ${operation.operationId} declares no such status`)
    const step = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
    const pointer =
      '$ref' in declared ? declared.$ref.slice(1) : `/paths/${step(found.template)}/${method.toLowerCase()}/responses/${status}`
    const content = ('$ref' in declared ? document.components.responses?.[declared.$ref.split('/').at(-1) as string] : declared)?.content
    if (!content) {
      if (body !== null) throw new Error(`${where} with a body`)
      return
    }
    if (content['application/json']) {
      if (!isJson) throw new Error(`${where} as ${headers.get('content-type')}`)
      check(`${pointer}/content/application~1json/schema`, body, where)
    }
  }
}
