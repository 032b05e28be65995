// The query of a request.

/** `?name=value&…` of the values that are given, or nothing without any. */
export function queryText(query: object | undefined): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined && value !== null) parameters.set(name, String(value))
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
