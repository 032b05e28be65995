// Exit codes are 0 ok, 1 failure, 2 usage, 3 auth, 4 not found and 5 conflict.
import { ApiError, CallsignError } from '@callsign/sdk'
import { NotFoundError, UsageError } from './usage-error.ts'

const byCode: Record<string, number> = {
  wrong_vault_key: 3,
  vault_not_initialized: 4,
  secret_not_found: 4,
  secret_name_taken: 5,
  name_ambiguous: 5,
  vault_key_unsuitable: 2,
  recovery_code_malformed: 2,
  payload_invalid: 2,
}

const byStatus: Record<number, number> = { 400: 2, 401: 3, 403: 3, 404: 4, 409: 5 }

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  if (error instanceof NotFoundError) return 4
  if (error instanceof ApiError) return byCode[error.code] ?? byStatus[error.status] ?? 1
  if (error instanceof CallsignError) return byCode[error.code] ?? 1
  return 1
}
