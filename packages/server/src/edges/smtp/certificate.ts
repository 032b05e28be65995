// Makes a self-signed P-256 certificate in memory, so that STARTTLS works before anyone configured one (RFC 5280, RFC 5480).
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { inMs } from '../../core/clock.ts'

/** PEM texts. */
export type Certificate = { cert: string; key: string }

const dayMs = 86_400_000
const lifetimeDays = 3_650
const commonNameLengthMax = 64

/** One DER element: tag, length, content. */
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

/** A certificate for one host name, good for ten years from yesterday. Clients of opportunistic TLS do not check it (RFC 7435). */
export function generateCertificate(hostname: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(hostname.slice(0, commonNameLengthMax))))))
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const isAddress = isIP(hostname) === 4
  const altName = isAddress ? der(0x87, Buffer.from(hostname.split('.').map(Number))) : der(0x82, Buffer.from(hostname))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    name,
    sequence(time(inMs(-dayMs)), time(inMs(lifetimeDays * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(sequence(subjectAltName, octetString(sequence(altName))), sequence(extendedKeyUsage, octetString(sequence(serverAuth)))),
    ),
  )
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, privateKey)))
  const lines = certificate.toString('base64').match(/.{1,64}/g)!
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
