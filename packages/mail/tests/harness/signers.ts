// DKIM signatures and ARC sets by other implementations than the checked one. One is on node:crypto, written for the tests from RFC 6376, 8463 and
// 8617. The other is python3-dkim, where it is installed.
import { createHash, type KeyObject, sign as signBytes } from 'node:crypto'
import { findPythonDkim, sealWithPython, signWithPython } from './python-dkim.ts'

type Form = 'simple' | 'relaxed'
type Algorithm = 'rsa-sha256' | 'ed25519-sha256'
export type SignOptions = {
  domain: string
  selector: string
  key: KeyObject
  algorithm?: Algorithm
  canonicalize?: [header: Form, body: Form]
  /** Adds l= with the whole length of the canonical body. */
  length?: boolean
}
type NodeOptions = SignOptions & {
  /** Further tags, for example `{ x: '1' }`. They replace tags of the same name. */
  tags?: Record<string, string>
  /** The names of h=. All fields by default. */
  names?: string[]
}
export type SealOptions = {
  domain: string
  selector: string
  key: KeyObject
  service: string
}
type NodeSealOptions = SealOptions & {
  algorithm?: Algorithm
  /** The state of the chain, by default `none` for the first set and `pass` for the others. */
  cv?: string
}
export type Signer = {
  name: string
  sign: (message: Buffer, options: SignOptions) => Promise<Buffer>
  seal: (message: Buffer, options: SealOptions) => Promise<Buffer>
}

/** The fields with their folds, without their line ends, and the body. Octets are characters. */
function split(message: Buffer): { fields: string[]; body: string } {
  const text = message.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  return { fields: text.slice(0, end).split(/\r\n(?![ \t])/), body: text.slice(end + 4) }
}

const nameOf = (field: string): string => field.slice(0, field.indexOf(':')).trim().toLowerCase()
const blanks = (text: string): string => text.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ')
const canonicalField = (field: string, form: Form): string =>
  form === 'simple' ? field : `${nameOf(field)}:${blanks(field.slice(field.indexOf(':') + 1)).trim()}`

function canonicalBody(body: string, form: Form): string {
  const lines = body.replace(/\r\n$/, '').split('\r\n')
  const wanted = form === 'simple' ? lines : lines.map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (wanted.length > 0 && wanted.at(-1) === '') wanted.pop()
  return wanted.length === 0 ? (form === 'simple' ? '\r\n' : '') : `${wanted.join('\r\n')}\r\n`
}

function signature(text: string, key: KeyObject): string {
  const octets = Buffer.from(text, 'latin1')
  const signed =
    key.asymmetricKeyType === 'ed25519'
      ? signBytes(null, createHash('sha256').update(octets).digest(), key)
      : signBytes('sha256', octets, key)
  return signed.toString('base64')
}

/** The fields that names select, each from the last to the first of its name. */
function select(fields: readonly string[], names: readonly string[]): string[] {
  const left = [...fields]
  return names.flatMap((name) => {
    const at = left.findLastIndex((field) => nameOf(field) === name.toLowerCase())
    return at < 0 ? [] : left.splice(at, 1)
  })
}

/** A signature field over a message, with the tags of a DKIM signature or of an ARC message signature. */
function signField(name: string, message: Buffer, options: NodeOptions, first: Record<string, string>): string {
  const { domain, selector, key, canonicalize = ['relaxed', 'relaxed'], length = false } = options
  const { fields, body } = split(message)
  const content = canonicalBody(body, canonicalize[1])
  const names = options.names ?? fields.map(nameOf)
  const tags = {
    ...first,
    a: options.algorithm ?? 'rsa-sha256',
    c: canonicalize.join('/'),
    d: domain,
    s: selector,
    h: names.join(':'),
    ...(length ? { l: String(content.length) } : {}),
    bh: createHash('sha256').update(Buffer.from(content, 'latin1')).digest('base64'),
    ...options.tags,
  }
  const unsigned = `${name}: ${Object.entries(tags)
    .map(([tag, value]) => `${tag}=${value}; `)
    .join('')}b=`
  const header = select(fields, names).map((field) => `${canonicalField(field, canonicalize[0])}\r\n`)
  return unsigned + signature(header.join('') + canonicalField(unsigned, canonicalize[0]), key)
}

/** A message with a DKIM signature on top. */
export const signWithNode = (message: Buffer, options: NodeOptions): Buffer =>
  Buffer.concat([Buffer.from(`${signField('DKIM-Signature', message, options, { v: '1' })}\r\n`, 'latin1'), message])

/** A message with one more ARC set on top. It needs an Authentication-Results field of `service`. */
export function sealWithNode(message: Buffer, options: NodeSealOptions): Buffer {
  const { domain, selector, key, service, cv, algorithm = 'rsa-sha256' } = options
  const { fields } = split(message)
  const named = (name: string) => fields.filter((field) => nameOf(field) === name).toReversed()
  const instance = named('arc-seal').length + 1
  const results = fields.find((field) => nameOf(field) === 'authentication-results' && field.includes(service)) as string
  const set = [
    `ARC-Authentication-Results: i=${instance};${results.slice(results.indexOf(':') + 1)}`,
    signField(
      'ARC-Message-Signature',
      message,
      { domain, selector, key, algorithm, names: ['from', 'to', 'subject', 'date'] },
      { i: String(instance) },
    ),
  ]
  const before = named('arc-seal').flatMap((seal, index) => [
    named('arc-authentication-results')[index] as string,
    named('arc-message-signature')[index] as string,
    seal,
  ])
  const unsigned = `ARC-Seal: i=${instance}; a=${algorithm}; cv=${cv ?? (instance === 1 ? 'none' : 'pass')}; d=${domain}; s=${selector}; b=`
  const text = [...before, ...set].map((field) => `${canonicalField(field, 'relaxed')}\r\n`).join('') + canonicalField(unsigned, 'relaxed')
  const header = [unsigned + signature(text, key), set[1], set[0]].join('\r\n')
  return Buffer.concat([Buffer.from(`${header}\r\n`, 'latin1'), message])
}

const keyForPython = (key: KeyObject): string =>
  key.asymmetricKeyType === 'ed25519'
    ? key.export({ type: 'pkcs8', format: 'der' }).subarray(-32).toString('base64')
    : key.export({ type: 'pkcs1', format: 'pem' }).toString()

/** Every implementation of this machine. The first needs nothing but Node. */
export const signers: readonly Signer[] = [
  {
    name: 'node:crypto',
    sign: async (message, options) => signWithNode(message, options),
    seal: async (message, options) => sealWithNode(message, options),
  },
  ...(findPythonDkim() === null
    ? [
        {
          name: 'python3-dkim',
          sign: (message: Buffer, options: SignOptions) =>
            signWithPython(message, { algorithm: 'rsa-sha256', ...options, key: keyForPython(options.key) }),
          seal: (message: Buffer, options: SealOptions) => sealWithPython(message, { ...options, key: keyForPython(options.key) }),
        },
      ]
    : []),
]
