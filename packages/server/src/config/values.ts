// Readers for the values of settings. Each returns the value, or throws an Error that states the required form.
import { type SendingLimitName, sendingLimitNames } from '@callsign/contract/sending-limits'
import ipaddr from 'ipaddr.js'

export const integer = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d{1,10}$/.test(text) || value < min || value > max) throw new Error(`must be a whole number from ${min} to ${max}`)
  return value
}

export const decimal = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d{1,10}(\.\d{1,3})?$/.test(text) || value < min || value > max) throw new Error(`must be a number from ${min} to ${max}`)
  return value
}

export const oneOf =
  <T extends string>(...values: T[]) =>
  (text: string): T => {
    if (!values.includes(text as T)) throw new Error(`must be one of: ${values.join(', ')}`)
    return text as T
  }

export const domainName = (text: string) => {
  if (text.length > 253 || !/^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/.test(text))
    throw new Error('must be a lowercase domain name')
  return text
}

export const url =
  (...protocols: string[]) =>
  (text: string) => {
    const parsed = URL.canParse(text) ? new URL(text) : null
    if (!parsed || !protocols.includes(parsed.protocol))
      throw new Error(`must be a URL starting with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    return text.replace(/\/+$/, '')
  }

/** The address of a whole host name. Pages, cookies and discovery documents are at fixed paths from its root. */
export const originUrl =
  (...protocols: string[]) =>
  (text: string) => {
    const address = url(...protocols)(text)
    const { origin, username, password } = new URL(address)
    if (username !== '' || password !== '') throw new Error('must not contain a user or password')
    if (new URL(address).href !== `${origin}/`)
      throw new Error(`must be the address of a host name of its own, without a path, such as ${origin}`)
    return address
  }

/** Bucket and prefix of `s3://bucket/prefix`. Null for any other text. */
export const bucketUrl = (text: string): { bucket: string; prefix: string } | null => {
  const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(text)
  return s3 && { bucket: s3[1] as string, prefix: (s3[2] ?? '').replace(/^\/+|\/+$/g, '') }
}

/** Characters that end the password of a URL, or begin an escape, where they stand for themselves. */
function requireEncodedPassword(text: string): void {
  const [, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(text) ?? []
  const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf('@')))
  const isCutOff = !authority.includes('@') && authority.includes(':') && rest.includes('@')
  if (userInfo.includes('@') || isCutOff || /%(?![0-9A-Fa-f]{2})/.test(userInfo) || /\s/.test(authority))
    throw new Error(
      'has a reserved character in its user or password: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25 and a blank as %20',
    )
}

const postgresUrl = (text: string): string => {
  requireEncodedPassword(text)
  if (!/^postgres(ql)?:\/\/[^\s]+$/.test(text)) throw new Error('must be a URL starting with postgres:// or postgresql://')
  return text
}

/** A connection string of replicas. */
export const replicaUrl = (text: string) => {
  // Each host is a replica of its own, and a primary among them is not used.
  if (/[?&]target_session_attrs=/.test(text)) throw new Error('must not have target_session_attrs')
  return postgresUrl(text)
}

/** A connection string. `URL` rejects the form for Unix sockets, `postgres://user@/name?host=/folder`, because it has no host. */
export const databaseUrl = (text: string) => {
  postgresUrl(text)
  const session = /[?&]target_session_attrs=([^&]*)/.exec(text)?.[1]
  // Callsign writes, so it always looks for a server that accepts writes.
  if (session !== undefined && !['any', 'read-write', 'primary'].includes(session))
    throw new Error('must have target_session_attrs=read-write or none, because Callsign writes')
  return text
}

/** True for an IPv4 or IPv6 address with an optional port. An IPv6 address needs brackets before a port. */
export const isServerAddress = (text: string): boolean => {
  const [, host = text, port] = /^(\d+\.\d+\.\d+\.\d+|\[[^\]]+\])(?::(\d{1,5}))?$/.exec(text) ?? []
  return ipaddr.isValid(host.replace(/^\[|\]$/g, '')) && (port === undefined || (Number(port) > 0 && Number(port) < 65_536))
}

export const secondsList = (text: string) =>
  text.split(',').map((part) => {
    const value = Number(part.trim())
    if (!/^\d+(\.\d+)?$/.test(part.trim()) || value > 2_592_000)
      throw new Error('must be a comma list of delays in seconds, each at most 30 days')
    return value
  })

/** A phone number. */
export const e164 = (text: string) => {
  if (!/^\+[1-9][0-9]{6,14}$/.test(text)) throw new Error('must be a phone number in E.164, such as +12015550123')
  return text
}

/** The bytes of a Standard Webhooks secret. */
export const signingSecret = (text: string): Buffer => {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < 16) throw new Error('must be whsec_ and base64 of at least 16 bytes')
  return bytes
}

/** True for localhost and for literal addresses of private networks, loopback and VPNs. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost' || host.endsWith('.localhost') || host.endsWith('.local') || host.endsWith('.ts.net')) return true
  if (!ipaddr.isValid(host)) return false
  return ['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'].includes(ipaddr.process(host).range())
}

/** `id:base64` of 32 bytes, several separated by commas. */
export const encryptionKeys = (text: string): { id: string; bytes: Buffer }[] => {
  const keys = text.split(',').map((part) => {
    const [, id, base64 = ''] = /^([A-Za-z0-9_-]{1,20}):([A-Za-z0-9+/]{43}=)$/.exec(part.trim()) ?? []
    if (id === undefined) throw new Error('must be id:key, with an id of up to 20 letters, digits, - and _, and 32 bytes in base64')
    return { id, bytes: Buffer.from(base64, 'base64') }
  })
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('must have a different id for each key')
  return keys
}

/** `messages_per_hour=100,new_recipients_per_day=50` as an object. */
export const sendingLimits = (text: string): Partial<Record<SendingLimitName, number>> =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.trim().split('=')
      if (!(sendingLimitNames as readonly string[]).includes(name))
        throw new Error(`must be limits such as messages_per_hour=100, separated by commas. The limits are ${sendingLimitNames.join(', ')}`)
      return [name, integer(1, 1_000_000_000)(value)]
    }),
  )

/** A port to listen on, or null for `off`. */
export const optionalPort = (text: string): number | null => (text === 'off' ? null : integer(0, 65535)(text))

export const cidrList = (text: string) => {
  const ranges = text.split(',').flatMap((part) => (part.trim() ? [part.trim()] : []))
  for (const range of ranges) if (!ipaddr.isValidCIDR(range)) throw new Error('must be a comma list of CIDRs such as 127.0.0.0/8')
  return ranges
}
