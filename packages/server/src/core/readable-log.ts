// Writes a JSON line of the log as a line for people.

/** Characters that move the cursor of a terminal or reorder its text. Values can come from strangers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const visible = (text: string): string => text.replace(unsafe, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

type Line = { level?: string; time?: string; msg?: string; err?: { stack?: string; message?: string }; [name: string]: unknown }

/** `15:04:05 warn  message name=value`, and the stack of an error below it. A line that is not JSON stays as it is. */
export function toReadableLine(json: string): string {
  const line = parse(json)
  if (line === null) return `${visible(json.trimEnd())}\n`
  const { level = '', time = '', msg = '', err, ...values } = line
  const pairs = Object.entries(values).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const stack = err ? `\n${(err.stack ?? err.message ?? '').replace(/^/gm, '  ')}` : ''
  return `${visible(`${time.slice(11, 19)} ${level.padEnd(5)} ${msg}${pairs.join('').replaceAll('\n', '\\n')}${stack}`)}\n`
}

function parse(json: string): Line | null {
  try {
    const line: unknown = JSON.parse(json)
    return typeof line === 'object' && line !== null ? (line as Line) : null
  } catch {
    return null
  }
}
