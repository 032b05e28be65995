// The custom headers of a webhook, as a person writes them.
import { FieldError } from '../../elements/field-error.ts'

/** Reads one header per line, as `Name: value`. */
export function parseHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      if (colon < 1) throw new FieldError('/headers', `Write the header "${line.trim()}" as Name: value.`)
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}
