// The example of an operation for the Python client, made from that for the TypeScript SDK.

/** The lines that the Python examples of a page assume. */
export const pythonPreamble = `from callsign import Callsign

# Reads CALLSIGN_URL and CALLSIGN_API_KEY.
callsign = Callsign()`

const lineWidth = 64

/** One call with placeholders such as `$email_address`, `$query` and `$body`. */
const callPattern = /^(?:const (?<result>\w+|\{ .+? \}) = )?await callsign\.(?<method>[\w.]+)\((?<values>(?:\$\w+(?:, )?)*)\)$/

/** The call with the names of Python, or undefined when `sdk` is more than one call. Fields of `$query` and `$body` become named arguments. */
export function pythonOf(sdk: string, values: Record<string, unknown>): string | undefined {
  const { result, method, values: given = '' } = callPattern.exec(sdk)?.groups ?? {}
  if (method === undefined) return undefined
  const parts = given
    .split(', ')
    .filter(Boolean)
    .flatMap((placeholder) => argumentsOf(placeholder.slice(1), values))
  const call = `callsign.${snake(method)}`
  const line = `${call}(${parts.join(', ')})`
  const source = line.length <= lineWidth ? line : `${call}(\n${parts.map((part) => `    ${part.replaceAll('\n', '\n    ')},\n`).join('')})`
  return assigned(result, source)
}

function argumentsOf(name: string, values: Record<string, unknown>): string[] {
  const value = values[name]
  if (name !== 'query' && name !== 'body') return [literal(value)]
  return Object.entries((value ?? {}) as Record<string, unknown>).map(([field, item]) => `${parameterOf(field)}=${literal(item)}`)
}

/** `{ id }` becomes the item of a dictionary. Several names become one reply. */
function assigned(result: string | undefined, call: string): string {
  if (result === undefined) return call
  const names = result.replace(/[{}\s]/g, '').split(',')
  if (!result.startsWith('{')) return `${snake(result)} = ${call}`
  return names.length === 1 ? `${snake(names[0] as string)} = ${call}["${names[0]}"]` : `reply = ${call}`
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A keyword of Python ends in an underscore as an argument. */
const parameterOf = (name: string): string => (['from', 'import', 'class', 'global', 'is', 'in'].includes(name) ? `${name}_` : name)

/** A JSON value as it is written in Python, on one line if it fits. */
function literal(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${indent}    `
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, deeper)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const line = `${open}${parts.join(', ')}${close}`
  if (line.length + indent.length <= lineWidth && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close}`
}
