// Prepares requests for the inspector's table: masks their secrets, encrypts their bodies, and decrypts stored bodies.
import { openSecret, sealSecret } from '../../core/secret-seal.ts'
import { maskBody, maskCredentials, maskHeaders, maskPath } from './masking.ts'
import type { CapturedRequest, RequestRecord, RequestRow } from './model.ts'

export interface RequestSealing {
  /** The record as it may be stored. */
  seal(record: RequestRecord): RequestRecord
  /** The stored row with readable bodies. */
  open(row: RequestRow): RequestRow
}

export function createRequestSealing(sealKey: Buffer): RequestSealing {
  const seal = (name: string, body: Buffer | null) => body && sealSecret(sealKey, name, body)
  const open = (name: string, sealed: Buffer | null) => sealed && openSecret(sealKey, name, sealed)
  return {
    seal(record) {
      const captured = record.captured && maskCaptured(record.captured)
      return {
        ...record,
        path: maskCredentials(maskPath(record.path)),
        captured: captured && {
          ...captured,
          requestBody: seal(`${record.id} request`, captured.requestBody),
          responseBody: seal(`${record.id} response`, captured.responseBody),
        },
      }
    },

    open: (row) => ({
      ...row,
      request_body: open(`${row.id} request`, row.request_body),
      response_body: open(`${row.id} response`, row.response_body),
    }),
  }
}

/** A body that cannot be read for secrets is left out and counts as truncated. */
function maskCaptured(captured: CapturedRequest): CapturedRequest {
  const requestBody = maskBody(captured.requestBody, captured.requestHeaders)
  const responseBody = maskBody(captured.responseBody, captured.responseHeaders)
  return {
    requestHeaders: maskHeaders(captured.requestHeaders),
    responseHeaders: captured.responseHeaders && maskHeaders(captured.responseHeaders),
    requestBody,
    responseBody,
    isRequestBodyWhole: captured.isRequestBodyWhole && (requestBody !== null || captured.requestBody === null),
    isResponseBodyWhole: captured.isResponseBodyWhole && (responseBody !== null || captured.responseBody === null),
  }
}
