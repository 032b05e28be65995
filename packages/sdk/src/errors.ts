// Error classes of the client for error responses, connection failures and vault checks.

/** The class of every error that this package throws deliberately. `code` is a stable identifier for programs. */
export class CallsignError extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

export type ApiErrorFields = {
  status: number
  code: string
  message: string
  requestId: string | null
  details: unknown
  retryAfterMs: number | null
}

/** An error response of the server. `code` is an error code of the API. `details` lists invalid fields, if any. */
export class ApiError extends CallsignError {
  readonly status: number
  readonly requestId: string | null
  readonly details: unknown
  /** The seconds to wait that the server asked for, or null. */
  readonly retryAfterMs: number | null
  constructor(fields: ApiErrorFields) {
    super(fields.code, fields.message)
    this.status = fields.status
    this.requestId = fields.requestId
    this.details = fields.details
    this.retryAfterMs = fields.retryAfterMs
  }
}

/** No usable response arrived. `code` is `connection_failed`, `timeout`, `reply_too_large` or `reply_unusable`. The server may have acted. */
export class ConnectionError extends CallsignError {}

/** Reasons for which the vault client stops. In every case no secret has been disclosed. */
export type VaultErrorCode =
  | 'vault_not_initialized'
  | 'vault_locked'
  | 'kdf_params_too_weak'
  | 'kdf_params_too_costly'
  | 'kdf_params_unusable'
  | 'vault_key_unsuitable'
  | 'recovery_code_malformed'
  | 'wrong_vault_key'
  | 'vault_changed'
  | 'vault_rolled_back'
  | 'wrapped_key_rejected'
  | 'blob_malformed'
  | 'blob_version_unknown'
  | 'blob_rejected'
  | 'context_mismatch'
  | 'context_missing'
  | 'secret_rolled_back'
  | 'secret_not_found'
  | 'secrets_missing'
  | 'revision_unusable'
  | 'secret_name_taken'
  | 'name_ambiguous'
  | 'name_not_verified'
  | 'payload_invalid'
  | 'payload_too_large'
  | 'totp_invalid'
  | 'reply_unusable'
  | 'pins_unreadable'
  | 'cryptography_unavailable'

/** The vault client stopped. Nothing more was derived, sent or shown. */
export class VaultError extends CallsignError {
  declare readonly code: VaultErrorCode
  constructor(code: VaultErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options)
  }
}
