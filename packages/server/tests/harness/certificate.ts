// X.509 certificates made at run time, so that the repository contains no private key (RFC 5280, ECDSA P-256).
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** Certificate and private key in PEM. */
export type Certificate = { cert: string; key: string }

export type CertificateOptions = { commonName: string; dnsNames?: string[]; notBefore?: Date; notAfter?: Date; issuer?: Authority }
export type Authority = Certificate & { commonName: string; privateKey: KeyObject }

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body])
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 255]), body])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
const name = (commonName: string): Buffer => sequence(der(0x31, sequence(oid(0x55, 4, 3), der(0x0c, Buffer.from(commonName)))))
const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*/g, '')}Z`))
const extension = (id: Buffer, isCritical: boolean, value: Buffer): Buffer =>
  sequence(id, ...(isCritical ? [der(0x01, Buffer.from([255]))] : []), der(0x04, value))
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2))
const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END ${label}-----\n`

/** Creates a certificate, valid from yesterday until tomorrow by default. It is signed by `issuer`, or by itself and then able to sign others. */
export function createCertificate({ commonName, dnsNames = [], notBefore, notAfter, issuer }: CertificateOptions): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const dayMs = 86_400_000
  const extensions = [
    extension(oid(0x55, 0x1d, 0x13), true, sequence(...(issuer ? [] : [der(0x01, Buffer.from([255]))]))),
    ...(dnsNames.length > 0
      ? [extension(oid(0x55, 0x1d, 0x11), false, sequence(...dnsNames.map((dnsName) => der(0x82, Buffer.from(dnsName)))))]
      : []),
  ]
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name(issuer?.commonName ?? commonName),
    sequence(time(notBefore ?? new Date(Date.now() - dayMs)), time(notAfter ?? new Date(Date.now() + dayMs))),
    name(commonName),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer?.privateKey ?? privateKey)
  const whole = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return { cert: pem('CERTIFICATE', whole), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, commonName, privateKey }
}
