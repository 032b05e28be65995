// Generates P-256 certificates in memory (RFC 5280, RFC 5480). A self-signed one makes STARTTLS work before a certificate is configured.
// The others belong to a local authority.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { inMs } from './clock.ts'

/** PEM texts. */
export type Certificate = { cert: string; key: string }

const dayMs = 86_400_000
const lifetimeDays = 3_650
const commonNameLengthMax = 64
const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/

/** One DER element, made of tag, length and content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const { length } = body
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), body])
  return Buffer.concat([length < 0x100 ? Buffer.of(tag, 0x81, length) : Buffer.of(tag, 0x82, length >> 8, length & 0xff), body])
}

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content)
/** An object identifier from its encoded content. */
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const bitString = (content: Buffer): Buffer => der(0x03, Buffer.of(0), content)
const octetString = (content: Buffer): Buffer => der(0x04, content)

/** GeneralizedTime from 2050 on, UTCTime before (RFC 5280 §4.1.2.5). */
function time(at: Date): Buffer {
  const digits = `${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  return at.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = oid('550403')
const subjectAltName = oid('551d11')
const extendedKeyUsage = oid('551d25')
const serverAuth = oid('2b06010505070301')

const basicConstraints = oid('551d13')
const keyUsage = oid('551d0f')
const nameConstraints = oid('551d1e')
const subjectKeyId = oid('551d0e')
const authorityKeyId = oid('551d23')
const isTrue = der(0x01, Buffer.of(0xff))

const extension = (id: Buffer, value: Buffer, isCritical = false): Buffer =>
  sequence(id, ...(isCritical ? [isTrue] : []), octetString(value))

const nameOf = (text: string): Buffer =>
  sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(text.slice(0, commonNameLengthMax))))))

const altNameOf = (hostname: string): Buffer =>
  ipv4.test(hostname) ? der(0x87, Buffer.from(hostname.split('.').map(Number))) : der(0x82, Buffer.from(hostname))

const serverExtensions = (hostnames: string[]): Buffer[] => [
  extension(subjectAltName, sequence(...hostnames.map(altNameOf))),
  extension(extendedKeyUsage, sequence(serverAuth)),
]

/** The key identifier, a hash of the public key (RFC 5280 §4.2.1.2). */
const keyIdOf = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()

type Request = { subject: Buffer; issuer: Buffer; publicKey: KeyObject; signer: KeyObject; days: number; extensions: Buffer[] }

function makeCertificate({ subject, issuer, publicKey, signer, days, extensions }: Request): string {
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    issuer,
    sequence(time(inMs(-dayMs)), time(inMs(days * dayMs))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, signer)))
  const lines = certificate.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A certificate for one host name, good for ten years from yesterday. Clients of opportunistic TLS do not check it (RFC 7435). */
export function generateCertificate(hostname: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf(hostname)
  const extensions = serverExtensions([hostname])
  return {
    cert: makeCertificate({ subject: name, issuer: name, publicKey, signer: privateKey, days: lifetimeDays, extensions }),
    key: pemOf(privateKey),
  }
}

/** An authority restricted to these domains and names below them, so that trusting it does not affect any other. */
export function generateAuthority(title: string, domains: string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf(title)
  const extensions = [
    extension(basicConstraints, sequence(isTrue, der(0x02, Buffer.of(0))), true),
    extension(keyUsage, der(0x03, Buffer.of(1, 0x06)), true),
    extension(nameConstraints, sequence(der(0xa0, ...domains.map((domain) => sequence(der(0x82, Buffer.from(domain)))))), true),
    extension(subjectKeyId, octetString(keyIdOf(publicKey))),
  ]
  return {
    cert: makeCertificate({ subject: name, issuer: name, publicKey, signer: privateKey, days: lifetimeDays, extensions }),
    key: pemOf(privateKey),
  }
}

/** Browsers reject longer validity periods. */
const issuedDays = 397

/** A certificate of the authority for these host names, followed by the authority's own. */
export function issueCertificate(authority: Certificate, title: string, hostnames: string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = createPrivateKey(authority.key)
  const issuerTitle = new X509Certificate(authority.cert).subject.replace(/^CN=/, '')
  const extensions = [
    ...serverExtensions(hostnames),
    extension(basicConstraints, sequence(), true),
    extension(keyUsage, der(0x03, Buffer.of(7, 0x80)), true),
    extension(subjectKeyId, octetString(keyIdOf(publicKey))),
    extension(authorityKeyId, sequence(der(0x80, keyIdOf(createPublicKey(signer))))),
  ]
  const cert = makeCertificate({ subject: nameOf(title), issuer: nameOf(issuerTitle), publicKey, signer, days: issuedDays, extensions })
  return { cert: `${cert}${authority.cert}`, key: pemOf(privateKey) }
}
