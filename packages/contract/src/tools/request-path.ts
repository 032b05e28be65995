// The path of a tool's request.
import type { ToolRequest } from './tool.ts'

/**
 * Fills the path of the operation. A model chooses the parameters, so each is one segment that cannot change the rest of the path. Throws an
 * error with the code `not_found` for a value that would.
 */
export function requestPath({ operation, params = {} }: ToolRequest): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? ''
    if (value === '' || value === '.' || value === '..') throw Object.assign(new Error(`"${value}" names nothing.`), { code: 'not_found' })
    return encodeURIComponent(value)
  })
}
