// The generated certificate, as OpenSSL reads it.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateAuthority, generateCertificate, issueCertificate } from './certificate.ts'
import { nowMs } from './clock.ts'

test('a certificate for a host name is well formed, valid now and signed by its own key', () => {
  const { cert, key } = generateCertificate('mx.example.com')
  const parsed = new X509Certificate(cert)
  expect(parsed.subject).toBe('CN=mx.example.com')
  expect(parsed.issuer).toBe(parsed.subject)
  expect(parsed.checkHost('mx.example.com')).toBe('mx.example.com')
  expect(parsed.checkHost('other.example.com')).toBeUndefined()
  expect(parsed.verify(parsed.publicKey)).toBe(true)
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
  expect(Date.parse(parsed.validFrom)).toBeLessThan(nowMs())
  expect(Date.parse(parsed.validTo)).toBeGreaterThan(nowMs() + 9 * 365 * 86_400_000)
})

test('a certificate accepts long names and addresses', () => {
  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example`
  expect(new X509Certificate(generateCertificate(name).cert).checkHost(name)).toBe(name)
  expect(new X509Certificate(generateCertificate('192.0.2.7').cert).checkIP('192.0.2.7')).toBe('192.0.2.7')
})

test('an authority certifies names below its domain, with the extensions that strict clients require', () => {
  const authority = generateAuthority('A local authority', ['tunnel.localhost'])
  const { cert, key } = issueCertificate(authority, 'tunnels', ['*.tunnel.localhost', 'tunnel.localhost'])
  const [root, leaf] = [new X509Certificate(authority.cert), new X509Certificate(cert)]
  expect(root.ca).toBe(true)
  expect(leaf.ca).toBe(false)
  expect(leaf.checkIssued(root)).toBe(true)
  expect(leaf.verify(root.publicKey)).toBe(true)
  expect(leaf.checkHost('sales.tunnel.localhost')).toBe('*.tunnel.localhost')
  expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(Date.parse(leaf.validTo)).toBeLessThan(nowMs() + 398 * 86_400_000)
})
