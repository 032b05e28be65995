// Every error code of the API with its status, and the schema of the error body.
import Type from 'typebox'

/** Error codes by HTTP status. A code has exactly one status. */
export const errorStatuses = {
  validation_error: 400,
  draft_incomplete: 400,
  domain_not_verified: 400,
  kdf_params_too_weak: 400,
  unauthorized: 401,
  invalid_auth_hash: 401,
  forbidden: 403,
  approval_required: 403,
  recipient_not_allowed: 403,
  recipient_suppressed: 403,
  recipient_not_connected: 403,
  tunnel_disabled: 403,
  not_found: 404,
  vault_not_initialized: 404,
  method_not_allowed: 405,
  sms_outbound_unavailable: 405,
  request_timeout: 408,
  conflict: 409,
  domain_exists: 409,
  domain_in_use: 409,
  draft_version_conflict: 409,
  draft_not_editable: 409,
  draft_send_in_progress: 409,
  approval_expired: 409,
  handle_already_taken: 409,
  address_already_taken: 409,
  no_numbers_available: 409,
  number_already_assigned: 409,
  conversation_archived: 409,
  storage_quota_exceeded: 409,
  idempotency_in_progress: 409,
  vault_already_initialized: 409,
  vault_secret_conflict: 409,
  vault_secret_exists: 409,
  vault_rotation_conflict: 409,
  vault_key_version_stale: 409,
  cursor_lost: 410,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  attachment_damaged: 422,
  attachment_encrypted: 422,
  attachment_not_supported: 422,
  attachment_too_complex: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  sending_limit_reached: 429,
  headers_too_large: 431,
  internal_error: 500,
  verification_failed: 500,
  upstream_provider_error: 502,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatuses

/** The limit that refused a request. */
const ReachedLimit = Type.Object(
  {
    name: Type.String({ description: 'The field of the limit, such as messages_per_hour.' }),
    scope: Type.Unsafe<'identity' | 'key' | 'organization'>({ type: 'string', enum: ['identity', 'key', 'organization'] }),
    max: Type.Integer(),
    left: Type.Integer({ description: 'The number that may still be sent in this window.' }),
    resets_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'The time at which the message fits.',
    }),
  },
  { additionalProperties: false },
)

export const ErrorDetail = Type.Object(
  { path: Type.String(), message: Type.String(), limit: Type.Optional(ReachedLimit) },
  { additionalProperties: false },
)

/** The body of every error response. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ description: 'A stable word for programs.' }),
        message: Type.String({ description: 'A sentence for people that names the error and the remedy.' }),
        details: Type.Optional(Type.Array(ErrorDetail)),
        request_id: Type.String(),
      },
      { additionalProperties: false },
    ),
  },
  { $id: 'Error', additionalProperties: false },
)
