// Parses the bytes of a body into a JSON value that is safe to use. Limits depth and count, and refuses dangerous names, strings and
// numbers.
import { isUtf8 } from 'node:buffer'
import { ApiError, invalid } from '../../../core/errors.ts'

/** Levels of nesting per body. */
export const depthMax = 32

/**
 * Maximum number of values per body. Parsed values take many times the memory of their text, so a large body may only be large by its
 * strings.
 */
const valuesMax = 100_000

/** Bodies up to this size cannot contain enough values to matter, so they are parsed without a measurement. */
const unmeasuredBytesMax = 64 * 1024

const tooDeep = (): ApiError => new ApiError('validation_error', `The body is nested deeper than ${depthMax} levels.`)

const byteOrderMark = Buffer.from('\ufeff')

/** The JSON value in these bytes. Throws an ApiError, 400, with the error and its position. */
export function parseBody(given: Buffer): unknown {
  const bytes = withoutMark(given)
  checkText(bytes)
  const value = parseText(bytes.toString())
  checkValue(value, bytes)
  return value
}

/** As `parseBody`, for a body in chunks. Each step of it takes as long as small requests of others should wait, so each is a turn. */
export async function parseInTurns(chunks: Buffer[], inTurn: <T>(step: () => T) => Promise<T>): Promise<unknown> {
  const bytes = withoutMark(await inTurn(() => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))))
  await inTurn(() => checkText(bytes))
  const text = await inTurn(() => bytes.toString())
  const value = await inTurn(() => parseText(text))
  await inTurn(() => checkValue(value, bytes))
  return value
}

/** A byte order mark may be ignored (RFC 8259 section 8.1). Some editors and PowerShell write one. */
const withoutMark = (bytes: Buffer): Buffer => (bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes)

function checkText(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new ApiError('validation_error', 'The body is not valid UTF-8.')
  if (bytes.length > unmeasuredBytesMax) measure(bytes)
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    throw new ApiError('validation_error', `The body is not valid JSON${position ? ` near character ${position}` : ''}.`)
  }
}

function checkValue(value: unknown, bytes: Buffer): void {
  // In UTF-8, NUL and lone surrogates can only come from \u escapes, because JSON does not allow raw control characters.
  const problem = findProblem(value, 1, bytes.includes('\\u'))
  if (problem) throw invalid(`/${problem.path.map(escapePointer).join('/')}`, problem.message)
}

/** One segment of a JSON pointer (RFC 6901 §3), truncated to a length that can be sent back. */
export const escapePointer = (segment: string): string =>
  segment.slice(0, 100).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('\0', '\ufffd')

/**
 * Counts levels and values in JSON text without parsing it, and throws above the limits. Malformed text passes, because the parser reports
 * it.
 */
function measure(bytes: Buffer): void {
  let depth = 0
  let values = 0
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case 0x22:
        i = endOfString(bytes, i + 1)
        break
      case 0x5b:
      case 0x7b:
        if (++depth > depthMax) throw tooDeep()
        values++
        break
      case 0x5d:
      case 0x7d:
        depth--
        break
      case 0x2c:
        values++
        break
    }
    if (values > valuesMax) throw new ApiError('validation_error', `The body has more than ${valuesMax} values.`)
  }
}

/** The index of the quote that ends the string starting at `from`, or the end of the bytes. */
function endOfString(bytes: Buffer, from: number): number {
  // Long strings are usually base64 without a backslash, and then the search is as fast as memory.
  const quote = bytes.indexOf(0x22, from)
  if (quote === -1) return bytes.length
  if (bytes[quote - 1] !== 0x5c) return quote
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === 0x5c) i++
    else if (byte === 0x22) return i
  }
  return bytes.length
}

type Problem = { path: string[]; message: string }

const textProblem = (text: string): string | null => {
  if (text.includes('\0')) return 'must not hold a NUL character'
  return text.isWellFormed() ? null : 'must not hold half of a surrogate pair'
}

/** The first value that is invalid for any schema. Recursion ends at depthMax. */
function findProblem(value: unknown, depth: number, hasEscapes: boolean): Problem | null {
  switch (typeof value) {
    case 'string': {
      const message = hasEscapes ? textProblem(value) : null
      return message === null ? null : { path: [], message }
    }
    case 'number':
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
        return { path: [], message: 'is a number out of range' }
      }
      return null
    case 'object':
      if (value === null) return null
      if (depth > depthMax) throw tooDeep()
      return Array.isArray(value) ? findInArray(value, depth, hasEscapes) : findInObject(value, depth, hasEscapes)
    default:
      return null
  }
}

function findInArray(items: unknown[], depth: number, hasEscapes: boolean): Problem | null {
  for (let i = 0; i < items.length; i++) {
    const problem = findProblem(items[i], depth + 1, hasEscapes)
    if (problem) {
      problem.path.unshift(String(i))
      return problem
    }
  }
  return null
}

function findInObject(members: object, depth: number, hasEscapes: boolean): Problem | null {
  for (const [key, value] of Object.entries(members)) {
    const problem = nameProblem(key, value, hasEscapes) ?? findProblem(value, depth + 1, hasEscapes)
    if (problem) {
      problem.path.unshift(key)
      return problem
    }
  }
  return null
}

/** Names through which a careless merge would reach the prototype of every object. */
function nameProblem(key: string, value: unknown, hasEscapes: boolean): Problem | null {
  if (key === '__proto__') return { path: [], message: 'is not a name that a field may have' }
  if (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')) {
    return { path: [], message: 'is not a name that a field with a prototype may have' }
  }
  const message = hasEscapes ? textProblem(key) : null
  return message === null ? null : { path: [], message: `has a name that ${message}` }
}
