// Validates requests against the schemas of the contract. Queries and paths are coerced, bodies are checked unchanged.

import { _, Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { TObject, TSchema } from 'typebox'
import { ApiError, type ErrorDetail } from '../../../core/errors.ts'
import { pathUnknown } from '../failure.ts'
import { escapePointer } from './body-check.ts'

/** Maximum number of details per response. */
const detailsMax = 20

/** Maximum number of details that the message of an error has too. */
const sentencesMax = 3

/** Larger inputs get only their first error. Collecting all of them would let one request create millions of error objects. */
const explainedValuesMax = 2000

const earliestMs = Date.UTC(1000, 0, 1)
const latestMs = Date.UTC(9999, 11, 31)
const dateTimePattern = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** RFC 3339 with a zone and an existing day. Leap seconds and years that the database cannot store are refused. */
function isDateTime(text: string): boolean {
  const match = dateTimePattern.exec(text)
  if (!match) return false
  const ms = Date.parse(text)
  if (Number.isNaN(ms) || ms < earliestMs || ms > latestMs) return false
  // Date.parse rolls February 30 over into March.
  const day = Number(match[3])
  return day <= new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate()
}

const newAjv = (options: Options): Ajv => {
  const ajv = new Ajv({
    allowUnionTypes: true,
    useDefaults: true,
    removeAdditional: false,
    verbose: true,
    addUsedSchema: false,
    ...options,
  })
  ajv.addFormat('date-time', isDateTime)
  addLength(ajv, 'minLength', (text, limit) => text.length >= 2 * limit || countCharacters(text) >= limit)
  addLength(ajv, 'maxLength', (text, limit) => text.length <= limit || (text.length <= 2 * limit && countCharacters(text) <= limit))
  return ajv
}

/** Replaces a keyword of Ajv, which counts all characters of a text, also where its length in units decides. 40 MB took 200 ms. */
function addLength(ajv: Ajv, keyword: string, isWithin: (text: string, limit: number) => boolean): void {
  ajv.removeKeyword(keyword)
  const error = { message: keyword, params: ({ schemaCode }: { schemaCode: unknown }) => _`{limit: ${schemaCode as number}}` }
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    error,
    compile: (limit: number) => (text: string) => isWithin(text, limit),
  })
}

/** Code points, which are one or two units each. */
function countCharacters(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; count++) i += (text.codePointAt(i) as number) > 0xffff ? 2 : 1
  return count
}

// Two validators each: one stops at the first error and checks every request, the other finds all errors to explain them.
const exact = { first: newAjv({ coerceTypes: false }), all: newAjv({ coerceTypes: false, allErrors: true }) }
const coercing = { first: newAjv({ coerceTypes: true }), all: newAjv({ coerceTypes: true, allErrors: true }) }

/**
 * A schema prepared for the compilers, without `$id`s, which must be unique, and with records as additionalProperties. The pattern `^.*$`
 * would let names with a line break through unchecked.
 */
export function bareSchema<S>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(bareSchema) as S
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: _id, patternProperties, ...rest } = schema as Record<string, unknown>
  const bare: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(rest)) bare[key] = key === 'properties' ? bareProperties(value as object) : bareSchema(value)
  const patterns = patternProperties as Record<string, unknown> | undefined
  if (patterns && Object.keys(patterns).join() === '^.*$') bare.additionalProperties = bareSchema(patterns['^.*$'])
  else if (patterns) bare.patternProperties = bareProperties(patterns)
  return bare as S
}

const bareProperties = (properties: object): object =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, bareSchema(schema)]))

/** The check of one part of a request. Returns `{}`, or the error when it is invalid. */
export type PartCheck = (data: unknown) => { error?: ApiError }

/** The check of a body. `isOptional` lets a request without one through. */
export function bodyCheck(schema: TSchema, isOptional: boolean): PartCheck {
  const check = lazyCheck(schema, exact)
  return (data) => {
    if (data === null || data === undefined) {
      return isOptional ? passed : { error: new ApiError('validation_error', 'A JSON body is required.') }
    }
    if (data instanceof ApiError) return { error: data }
    return check(data)
  }
}

/** The check of a query. Converts the values in place. A whole number is written in digits: `1e2`, `0x10` and `5.0` are refused. */
export function queryCheck(schema: TObject): PartCheck {
  const check = lazyCheck(schema, coercing)
  const integers = Object.keys(schema.properties).filter((name) => (schema.properties[name] as { type?: unknown }).type === 'integer')
  return (data) => {
    const query = data as Record<string, unknown>
    for (const name of integers) {
      const text = query[name]
      if (typeof text === 'string' && !/^-?[0-9]+$/.test(text)) return refuse(name, 'must be a whole number')
      if (Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER) return refuse(name, 'is a number out of range')
    }
    return check(data)
  }
}

const refuse = (name: string, message: string) => ({ error: failureFrom([{ path: `/${escapePointer(name)}`, message }]) })

/** The check of path parameters. A value that does not fit names nothing, so it is 404 like every unknown name. */
export function pathCheck(schema: TSchema): PartCheck {
  const check = lazyCheck(schema, coercing)
  return (data) => (check(data) === passed ? passed : { error: pathUnknown() })
}

const passed = {}

/** Compiles on first use. Otherwise most of the startup time would go to schemas that are used later or never. */
function lazyCheck(schema: TSchema, pair: { first: Ajv; all: Ajv }): PartCheck {
  let first: ValidateFunction | undefined
  let all: ValidateFunction | undefined
  return (data) => {
    first ??= pair.first.compile(bareSchema(schema))
    if (first(data)) return passed
    let errors = first.errors ?? []
    if (countValues(data, explainedValuesMax) < explainedValuesMax) {
      all ??= pair.all.compile(bareSchema(schema))
      all(data)
      errors = all.errors ?? errors
    }
    return { error: failureFrom(describe(errors)) }
  }
}

/** The number of values, up to `most`. */
function countValues(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const item of Object.values(value)) {
    count += countValues(item, most - count)
    if (count >= most) return most
  }
  return count
}

/** The error with one sentence per detail, up to `sentencesMax`. Many clients show the message alone. */
function failureFrom(details: ErrorDetail[]): ApiError {
  const sentences = details.slice(0, sentencesMax).map(({ path, message }) => `${path ? namesOf(path) : 'The body'} ${message}`)
  const left = details.length - sentences.length
  const text = `${sentences.join('. ')}${left > 0 ? ` (and ${left} more, see details)` : ''}.`
  return new ApiError('validation_error', details.length > 0 ? text : 'The request is not valid.', { details })
}

const namesOf = (path: string): string => path.slice(1).replaceAll('/', '.')

/** One sentence per error, without Ajv's errors about branches of a choice that were not meant. */
function describe(errors: ErrorObject[]): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const seen = new Set<string>()
  const choices = new Map(errors.filter((error) => error.keyword === 'anyOf').map((error) => [error.instancePath, error]))
  // Unknown fields first: a misspelt name is often the reason why another one is missing.
  const ordered = errors.toSorted((a, b) => Number(b.keyword === 'additionalProperties') - Number(a.keyword === 'additionalProperties'))
  for (const error of ordered) {
    const choice = choices.get(error.instancePath)
    // Errors of the branches at the same place add nothing to the error of the choice, unless only one branch accepts this type of value.
    if (choice && error !== choice && error.keyword === 'type') continue
    if (choice === error && errors.some((other) => isInside(other, error))) continue
    const detail = describeOne(error)
    const name = `${detail.path} ${detail.message}`
    if (seen.has(name)) continue
    seen.add(name)
    details.push(detail)
    if (details.length === detailsMax) break
  }
  return details
}

/** True for an error inside a branch of the choice that is not only about the type. */
const isInside = (error: ErrorObject, choice: ErrorObject): boolean =>
  error !== choice &&
  (error.instancePath === choice.instancePath ? error.keyword !== 'type' : error.instancePath.startsWith(`${choice.instancePath}/`))

const typeWords: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

const typesOf = (schema: Record<string, unknown>): string[] => {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((branch) => typesOf(branch as Record<string, unknown>))
  return [schema.type ?? []].flat() as string[]
}

const wordsOf = (types: string[]): string => types.map((type) => typeWords[type] ?? type).join(' or ')

const count = (limit: unknown, word: string): string => `${limit} ${word}${limit === 1 ? '' : 's'}`

function describeOne(error: ErrorObject): ErrorDetail {
  const path = error.instancePath
  const schema = (error.parentSchema ?? {}) as Record<string, unknown>
  const limit = error.params.limit as unknown
  switch (error.keyword) {
    case 'required':
      return { path: `${path}/${escapePointer(String(error.params.missingProperty))}`, message: 'is missing' }
    case 'additionalProperties':
      return {
        path: `${path}/${escapePointer(String(error.params.additionalProperty))}`,
        message: `is not a known field: ${knownFields(schema)}`,
      }
    case 'minProperties':
      return { path, message: `needs at least ${count(limit, 'field')}: ${knownFields(schema)}` }
    case 'maxProperties':
      return { path, message: `must not have more than ${count(limit, 'field')}` }
    case 'type':
    case 'anyOf':
      return { path, message: `must be ${wordsOf(typesOf(schema))}` }
    case 'enum':
      return { path, message: `must be one of: ${(error.params.allowedValues as unknown[]).join(', ')}` }
    case 'const':
      return { path, message: `must be ${JSON.stringify(error.params.allowedValue)}` }
    case 'format':
      return { path, message: 'must be a date and time with its zone, such as 2026-01-31T09:30:00.000Z' }
    case 'pattern':
      return { path, message: patternSentence(String(error.params.pattern), schema.description) }
    case 'minLength':
      return { path, message: limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'character')}` }
    case 'maxLength':
      return { path, message: `must have at most ${count(limit, 'character')}` }
    case 'minItems':
      return { path, message: `must have at least ${count(limit, 'item')}` }
    case 'maxItems':
      return { path, message: `must have at most ${count(limit, 'item')}` }
    case 'uniqueItems':
      return { path, message: 'must not have an item twice' }
    case 'minimum':
      return { path, message: `must be at least ${limit}` }
    case 'maximum':
      return { path, message: `must be at most ${limit}` }
    default:
      return { path, message: error.message ?? 'is not valid' }
  }
}

function knownFields(schema: Record<string, unknown>): string {
  const names = Object.keys((schema.properties as object | undefined) ?? {})
  return names.length > 0 ? `use ${names.join(', ')}` : 'no field is allowed'
}

/** The expected form, from the description in the contract or the prefix that an id must have. */
function patternSentence(pattern: string, description: unknown): string {
  if (typeof description === 'string') return `has the wrong form: ${description.replace(/\.$/, '')}`
  const prefix = /^\^([a-z]+_)/.exec(pattern)?.[1]
  return prefix ? `must be an id that starts with ${prefix}` : 'has the wrong form'
}
