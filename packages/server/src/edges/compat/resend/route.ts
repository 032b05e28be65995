// One row of the routes of Resend's API.
import type { ApiCall } from '../../../core/api-call.ts'

export type ResendRequest = {
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** The parsed body. Its fields are not checked. */
  body: Record<string, unknown> | unknown[]
  headers: Record<string, string | string[] | undefined>
  call: ApiCall
}

export type ResendRoute = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base address, with parameters as `:name`. */
  path: string
  bodyBytesMax?: number
  status?: 200 | 201
  run(request: ResendRequest): Promise<unknown>
}

/** An error in the words of Resend's API. */
export class ResendFailure extends Error {
  readonly statusCode: number
  override readonly name: string
  constructor(statusCode: number, name: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.name = name
  }
}

/** The answer to a feature that Callsign does not have. */
export const notOffered = (feature: string): ResendFailure =>
  new ResendFailure(501, 'application_error', `${feature} is not offered by Callsign.`)

/** A field of the body as text. Throws the error of Resend for a missing or wrong one. */
export function textField(body: ResendRequest['body'], name: string): string {
  const value = (body as Record<string, unknown>)[name]
  if (value === undefined || value === null || value === '')
    throw new ResendFailure(422, 'missing_required_field', `Missing \`${name}\` field.`)
  if (typeof value !== 'string') throw new ResendFailure(422, 'validation_error', `The \`${name}\` field must be a string.`)
  return value
}

/** One or several texts as a list. Undefined without them. */
export function listField(body: ResendRequest['body'], name: string): string[] | undefined {
  const value = (body as Record<string, unknown>)[name]
  if (value === undefined || value === null) return undefined
  const list = Array.isArray(value) ? value : [value]
  if (!list.every((one): one is string => typeof one === 'string'))
    throw new ResendFailure(422, 'validation_error', `The \`${name}\` field must be a string or a list of strings.`)
  return list
}

/** True unless a field is missing or null. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null
