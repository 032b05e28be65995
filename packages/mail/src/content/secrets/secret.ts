// A secret in a text, and the rules that find one.

export type SecretType = 'private_key' | 'api_key' | 'card_number' | 'callsign_key' | 'custom_pattern'

/** A secret in a text. `name` says which, such as `GitHub token`. `evidence` shows its first and last characters only. */
export type Secret = { type: SecretType; name: string; evidence: string }

/** A pattern of the caller. It returns the matched text, or null, and must take linear time. */
export type TextMatcher = { name: string; find: (text: string) => string | null }

export type IssuerRule = {
  type: SecretType
  name: string
  /** One of these stands in every match. */
  literals: string[]
  /** Group 1, or else the whole match, is the secret. */
  pattern: RegExp
  check?: (secret: string) => boolean
}

/** A rule for the keys of an issuer. */
export const apiKey = (name: string, literals: string | string[], pattern: RegExp, check?: IssuerRule['check']): IssuerRule => ({
  type: 'api_key',
  name,
  literals: [literals].flat(),
  pattern,
  ...(check && { check }),
})

/** True for a text with letters and digits. */
export const isMixed = (text: string): boolean => /\d/.test(text) && /[a-z]/i.test(text)
