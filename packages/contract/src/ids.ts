// Identifiers in TypeID style, with one prefix per resource, an underscore, and a UUIDv7 as 26 base32 characters. They sort by time and are opaque to clients.

/** Every prefix in use, by resource. Clients store ids, so a prefix never changes. */
export const idPrefixes = {
  organization: 'org',
  user: 'user',
  key: 'key',
  identity: 'ident',
  address: 'addr',
  mailbox: 'mbx',
  thread: 'thrd',
  message: 'msg',
  messageShare: 'shr',
  attachment: 'att',
  label: 'lbl',
  draft: 'drf',
  approval: 'apr',
  approvalLink: 'apl',
  wakeWindow: 'wake',
  suppression: 'sup',
  template: 'tpl',
  domain: 'dom',
  domainReport: 'drep',
  mailRule: 'mrl',
  conversation: 'conv',
  imessage: 'imsg',
  imessageChat: 'icht',
  imessageSend: 'isnd',
  tunnel: 'tun',
  phoneNumber: 'pn',
  sms: 'sms',
  simulated: 'sim',
  tunnelRequest: 'treq',
  tunnelSession: 'tses',
  gatewayNode: 'node',
  vault: 'vlt',
  vaultSecret: 'vsec',
  vaultAccess: 'vacc',
  vaultKey: 'vkey',
  event: 'evt',
  webhook: 'whk',
  delivery: 'dlv',
  request: 'req',
  audit: 'aud',
  dkimKey: 'dkim',
  job: 'job',
  raw: 'raw',
  consoleSession: 'cses',
  passkey: 'pkey',
  oauthClient: 'oacl',
} as const

export type IdKind = keyof typeof idPrefixes

/** Digits of Crockford's base32. Their byte order is the order of their values. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const suffixPattern = '[0-7][0-9a-hjkmnp-tv-z]{25}'

/** A regular expression source that matches exactly the ids of one kind. */
export const idPattern = (kind: IdKind): string => `^${idPrefixes[kind]}_${suffixPattern}$`

const patterns = new Map<IdKind, RegExp>()

/** True if the text has the shape of an id of this kind. It does not check existence. */
export function isId(kind: IdKind, text: string): boolean {
  let pattern = patterns.get(kind)
  if (!pattern) {
    pattern = new RegExp(idPattern(kind))
    patterns.set(kind, pattern)
  }
  return pattern.test(text)
}

/** The kind that the text has the shape of an id of, or null. */
export function kindOfId(text: string): IdKind | null {
  const prefix = text.slice(0, text.indexOf('_'))
  const kind = (Object.keys(idPrefixes) as IdKind[]).find((one) => idPrefixes[one] === prefix)
  return kind !== undefined && isId(kind, text) ? kind : null
}

let lastMs = 0
let counter = 0

/** Random bytes for many ids at once, because fetching 10 bytes per id costs more than the rest of the id. */
const pool = new Uint8Array(4000)
let poolUsed = pool.length

function takeRandom(size: number): Uint8Array {
  if (poolUsed + size > pool.length) {
    crypto.getRandomValues(pool)
    poolUsed = 0
  }
  poolUsed += size
  return pool.subarray(poolUsed - size, poolUsed)
}

/**
 * Creates an id of this kind, a UUIDv7 (RFC 9562 §5.7) with the 12 bits of rand_a as a counter within one millisecond. Ids made by
 * one process sort in their order of creation.
 */
export function newId(kind: IdKind, nowMs: number): string {
  const random = takeRandom(10)
  if (nowMs > lastMs) {
    lastMs = nowMs
    counter = (((random[8] as number) << 3) | ((random[9] as number) & 7)) & 0x7ff
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  const bytes = new Uint8Array(16)
  let ms = lastMs
  for (let i = 5; i >= 0; i--) {
    bytes[i] = ms % 256
    ms = Math.floor(ms / 256)
  }
  bytes[6] = 0x70 | (counter >> 8)
  bytes[7] = counter & 0xff
  bytes.set(random.subarray(0, 8), 8)
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return `${idPrefixes[kind]}_${base32(bytes)}`
}

/** The id of this kind that sorts before every id made at `ms` or later, as the start of a time range. */
export function firstId(kind: IdKind, ms: number): string {
  const bytes = new Uint8Array(16)
  let rest = Math.max(0, Math.floor(ms))
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return `${idPrefixes[kind]}_${base32(bytes)}`
}

/** The time in an id, in milliseconds since 1970. */
export const timeOfId = (id: string): number => {
  const start = id.indexOf('_') + 1
  return [...id.slice(start, start + 10)].reduce((sum, digit) => sum * 32 + idAlphabet.indexOf(digit), 0)
}

/** Encodes 16 bytes as 26 characters of Crockford's base32, most significant first, two zero bits in front (TypeID 0.3). */
function base32(bytes: Uint8Array): string {
  let text = ''
  let buffer = 0
  let bits = 2
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += idAlphabet[(buffer >> bits) & 31]
    }
    buffer &= (1 << bits) - 1
  }
  return text
}
