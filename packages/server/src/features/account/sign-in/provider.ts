// The steps of OpenID Connect for a sign-in.

/** Values of one sign-in that the browser keeps, sealed, until it comes back. */
export type OidcPending = { state: string; nonce: string; verifier: string; redirectUri: string; expiresMs: number }

/** The person that the provider names. `subject` includes the issuer and never changes. */
export type OidcPerson = { subject: string; email: string | null; isEmailVerified: boolean }

export interface OidcProvider {
  /** The name on the button. */
  readonly name: string
  /** The address to send the browser to. */
  begin(redirectUri: string): Promise<{ url: string; pending: OidcPending }>
  /** The person of the callback's query. Throws when anything does not match. */
  finish(query: URLSearchParams, pending: OidcPending): Promise<OidcPerson>
}
