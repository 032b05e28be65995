// The example of each operation as code, for curl, the TypeScript SDK, the Python client and the CLI.
import type { Operation } from '../operation.ts'
import type { CodeSample, OperationDetails } from './operation-details.ts'
import { pythonOf } from './python-samples.ts'
import { pathSamples } from './samples.ts'

const sdkPackage = '@callsign/sdk'

/** The lines that the SDK examples of a page assume. */
export const sdkPreamble = `import { Callsign } from '${sdkPackage}'

// Reads CALLSIGN_URL and CALLSIGN_API_KEY.
const callsign = new Callsign()`

const lineWidth = 64

/** The values of the example for the parameters of the path, by name. */
export function pathValues(operation: Operation, details: OperationDetails): Record<string, string> {
  const names = Object.keys(operation.params?.properties ?? {})
  return Object.fromEntries(names.map((name) => [name, details.params?.[name] ?? pathSamples[name] ?? name]))
}

export function codeSamples(operation: Operation, details: OperationDetails, serverUrl: string): CodeSample[] {
  const samples: CodeSample[] = [{ lang: 'Shell', label: 'curl', source: curlOf(operation, details, serverUrl) }]
  if (details.sdk) samples.push({ lang: 'TypeScript', label: 'TypeScript', source: sdkOf(operation, details, details.sdk) })
  const python = details.python ?? (details.sdk && pythonOf(details.sdk, valuesOf(operation, details)))
  if (python) samples.push({ lang: 'Python', label: 'Python', source: python })
  if (details.cli) samples.push({ lang: 'Shell', label: 'CLI', source: details.cli })
  return samples
}

function curlOf(operation: Operation, details: OperationDetails, serverUrl: string): string {
  const values = pathValues(operation, details)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name).replaceAll('%40', '@'))
  const query = new URLSearchParams(
    Object.entries(details.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const url = `${serverUrl}${path}${query && `?${query}`}`
  const body = details.body && JSON.stringify(details.body, null, 2)
  const lines = [
    `curl${/[[\]{}]/.test(url) ? ' -g' : ''}${operation.method === 'GET' ? '' : ` -X ${operation.method}`} ${shellQuoted(url)}`,
    ...(operation.open ? [] : ['-H "Authorization: Bearer $CALLSIGN_API_KEY"']),
    ...(operation.idempotent ? ["-H 'Idempotency-Key: a-key-of-your-own'"] : []),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${shellQuoted(body)}`] : []),
    ...(operation.media === 'text/event-stream' ? ['-N'] : []),
  ]
  return lines.join(' \\\n  ')
}

/** Text without characters that a shell treats specially stays as it is. */
const shellQuoted = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** The values of the placeholders in `sdk`. */
const valuesOf = (operation: Operation, details: OperationDetails): Record<string, unknown> => ({
  ...pathValues(operation, details),
  query: details.query,
  body: details.body,
})

function sdkOf(operation: Operation, details: OperationDetails, call: string): string {
  const values = valuesOf(operation, details)
  return call.replace(/\$(\w+)/g, (_, name: string) => literal(values[name]))
}

/** A JSON value as it is written in TypeScript, on one line if it fits. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const deeper = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([name, item]) => `${name}: ${literal(item, deeper)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }']
  const line = `${open}${parts.join(', ')}${close}`
  if (line.length + indent.length <= lineWidth && !line.includes('\n')) return line
  return `${open.trim()}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close.trim()}`
}
