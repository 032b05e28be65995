// The one translator of our errors into those of Resend.
import type { ErrorCode } from '@callsign/contract/errors'
import { ApiError } from '../../../core/errors.ts'
import { ResendFailure } from './route.ts'

/** Error names of Resend by our codes, with its status where it differs from ours. */
const names: Record<ErrorCode, [name: string, status?: number]> = {
  validation_error: ['validation_error', 422],
  draft_incomplete: ['missing_required_field', 422],
  domain_not_verified: ['validation_error', 403],
  kdf_params_too_weak: ['validation_error', 422],
  unauthorized: ['invalid_api_key', 403],
  invalid_auth_hash: ['invalid_access'],
  forbidden: ['restricted_api_key', 401],
  approval_required: ['invalid_access', 403],
  recipient_not_allowed: ['invalid_access', 403],
  recipient_suppressed: ['validation_error', 422],
  recipient_not_connected: ['invalid_access'],
  tunnel_disabled: ['invalid_access'],
  not_found: ['not_found'],
  vault_not_initialized: ['not_found'],
  method_not_allowed: ['method_not_allowed'],
  sms_outbound_unavailable: ['method_not_allowed'],
  request_timeout: ['application_error'],
  conflict: ['validation_error', 422],
  domain_exists: ['validation_error', 403],
  domain_in_use: ['validation_error', 422],
  draft_version_conflict: ['concurrent_idempotent_requests'],
  draft_not_editable: ['validation_error', 422],
  draft_send_in_progress: ['validation_error', 422],
  approval_expired: ['invalid_access', 403],
  handle_already_taken: ['validation_error', 422],
  address_already_taken: ['validation_error', 422],
  no_numbers_available: ['application_error'],
  number_already_assigned: ['application_error'],
  conversation_archived: ['application_error'],
  storage_quota_exceeded: ['application_error', 422],
  idempotency_in_progress: ['concurrent_idempotent_requests'],
  idempotency_key_reused: ['invalid_idempotent_request', 409],
  vault_already_initialized: ['application_error'],
  vault_secret_conflict: ['application_error'],
  vault_secret_exists: ['application_error'],
  vault_rotation_conflict: ['application_error'],
  vault_key_version_stale: ['application_error'],
  attachment_damaged: ['validation_error'],
  attachment_encrypted: ['validation_error'],
  attachment_not_supported: ['validation_error'],
  attachment_too_complex: ['validation_error'],
  cursor_lost: ['validation_error', 422],
  payload_too_large: ['validation_error'],
  uri_too_long: ['validation_error'],
  unsupported_media_type: ['validation_error'],
  expectation_failed: ['validation_error'],
  rate_limited: ['rate_limit_exceeded'],
  sending_limit_reached: ['daily_quota_exceeded'],
  headers_too_large: ['validation_error'],
  internal_error: ['internal_server_error'],
  verification_failed: ['internal_server_error'],
  upstream_provider_error: ['application_error'],
  unavailable: ['application_error'],
}

/** `hasKey` is false for a request without a key, which has an error of its own. */
export function translated({ status, code, message, details = [] }: ApiError, hasKey: boolean): ResendFailure {
  if (code === 'unauthorized' && !hasKey)
    return new ResendFailure(
      401,
      'missing_api_key',
      'Missing API key in the authorization header. Include a Callsign key as a bearer token.',
    )
  const reasons = details.map(({ path, message: reason }) => `${path} ${reason}`.trim())
  const text = reasons.length > 0 ? reasons.join('; ') : message
  if (code === 'validation_error' && /idempotency-key/i.test(text)) return new ResendFailure(400, 'invalid_idempotency_key', text)
  const [name, statusCode = status] = names[code] ?? ['application_error']
  return new ResendFailure(statusCode, name, text)
}

/** The answer to a call on the mailbox of an author. An address without an agent has an error of its own instead of a missing mailbox. */
export const byAuthor = <T>(address: string, answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    throw new ResendFailure(403, 'invalid_from_address', `No agent has the address ${address}. Add it with \`callsign addresses create\`.`)
  })
