// Errors of a request. Each message names the correction.
import type * as contract from '@callsign/contract/errors'
import { type ErrorCode, errorStatuses } from '@callsign/contract/errors'
import type { Static } from 'typebox'

export type ErrorDetail = Static<typeof contract.ErrorDetail>

/** A failed request. Operations throw it. One file translates it to HTTP, and another to SMTP. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetail[] | undefined
  /** Extra response headers, such as Retry-After. */
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, more: { details?: ErrorDetail[]; headers?: Record<string, string>; status?: 400 } = {}) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = more.status ?? errorStatuses[code]
    this.details = more.details
    this.headers = more.headers ?? {}
  }
}

/** 400 with one detail that names the field. */
export const invalid = (path: string, message: string): ApiError =>
  new ApiError('validation_error', message, { details: [{ path, message }] })

/** 404 that names the kind of resource. It does not reveal whether another organization has it. */
export const notFound = (what: string): ApiError => new ApiError('not_found', `No such ${what}.`)

/** 403 with the reason. */
export const forbidden = (message: string): ApiError => new ApiError('forbidden', message)
