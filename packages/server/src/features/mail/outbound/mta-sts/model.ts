// Reads MTA-STS records and policy files (RFC 8461): a domain's requirements for TLS to its mail servers.

export type TlsPolicy = {
  /** `enforce`: no delivery without a verified certificate. `testing` and `none` do not restrict delivery. */
  mode: 'enforce' | 'testing' | 'none'
  /** Names of mail servers; `*.` stands for one label. */
  mx: string[]
  maxAgeSeconds: number
}

/** Limits of a policy file. The longest lifetime is one year (§3.2). */
export const policyBytesMax = 64 * 1024
const maxAgeMax = 31_557_600
const mxMax = 100

/** The id of the policy in the TXT records below `_mta-sts`; null when there is not exactly one record of this kind (§3.1). */
export function readRecord(texts: string[]): string | null {
  const records = texts.filter((text) => /^v=STSv1[ \t]*(;|$)/.test(text))
  if (records.length !== 1) return null
  return /(?:^|;)[ \t]*id[ \t]*=[ \t]*([A-Za-z0-9]{1,32})[ \t]*(?:;|$)/.exec(records[0] as string)?.[1] ?? null
}

/** A policy file (§3.2). Null for an invalid one, which counts as absent. */
export function readPolicy(text: string): TlsPolicy | null {
  const mx: string[] = []
  const single = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, key, value] = /^([a-z0-9_.-]{1,32})[ \t]*:[ \t]*(.*?)[ \t]*$/i.exec(line) ?? []
    if (key === undefined || value === undefined) continue
    if (key === 'mx') mx.push(value.toLowerCase().replace(/\.$/, ''))
    // The first of repeated fields counts.
    else if (!single.has(key)) single.set(key, value)
  }
  const mode = single.get('mode')
  const maxAge = single.get('max_age') ?? ''
  if (single.get('version') !== 'STSv1' || !/^\d{1,10}$/.test(maxAge)) return null
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return null
  if (mx.length > mxMax || mx.some((name) => !/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name))) return null
  if (mode !== 'none' && mx.length === 0) return null
  return { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), maxAgeMax) }
}

/** True for a mail server that the policy names (§4.1). */
export function matchesPolicy(policy: TlsPolicy, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  const parent = name.slice(name.indexOf('.') + 1)
  return policy.mx.some((pattern) => (pattern.startsWith('*.') ? name.includes('.') && parent === pattern.slice(2) : name === pattern))
}
