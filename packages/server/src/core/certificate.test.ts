// The generated certificate, as OpenSSL reads it.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { generateAuthority, generateCertificate, issueCertificate } from './certificate.ts'
import { nowMs } from './clock.ts'

afterEach(() => void vi.useRealTimers())

/** The DER elements inside an element, as tag and content. */
function elementsOf(bytes: Buffer): { tag: number; content: Buffer }[] {
  const found = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1] as number
    const more = first < 0x80 ? 0 : first & 0x7f
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more)
    // DER requires the shortest form (X.690 §10.1).
    expect(more === 0 || length >= (more === 1 ? 0x80 : 0x100)).toBe(true)
    const start = at + 2 + more
    found.push({ tag: bytes[at] as number, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return found
}

/** Object identifiers of the extensions in a certificate, with true for the critical ones. */
function extensionsOf(cert: string): Record<string, boolean> {
  const whole = elementsOf(new X509Certificate(cert).raw)[0]?.content as Buffer
  const body = elementsOf(elementsOf(whole)[0]?.content as Buffer)
  const list = elementsOf(body.find(({ tag }) => tag === 0xa3)?.content as Buffer)[0]?.content as Buffer
  return Object.fromEntries(
    elementsOf(list).map(({ content }) => {
      const [id, critical] = elementsOf(content)
      return [id?.content.toString('hex'), critical?.tag === 1]
    }),
  )
}

const [altNames, usage, constraints, keyUses, names] = ['551d11', '551d0f', '551d13', '551d25', '551d1e'] as const

test('extensions that RFC 5280 wants critical are, and the others are not', () => {
  expect(extensionsOf(generateCertificate('mx.example').cert)).toEqual({ [altNames]: false, [keyUses]: false })
  const authority = generateAuthority('A', ['tunnel.localhost'])
  expect(extensionsOf(authority.cert)).toMatchObject({ [constraints]: true, [usage]: true, [names]: true })
  const leaf = issueCertificate(authority, 'tunnels', ['tunnel.localhost']).cert
  expect(extensionsOf(leaf)).toMatchObject({ [altNames]: false, [keyUses]: false, [constraints]: true, [usage]: true })
})

test('elements of every length are encoded in the shortest form', () => {
  for (let length = 1; length < 280; length++) {
    const name = 'a'.repeat(length)
    const { cert } = generateCertificate(name)
    const extensions = extensionsOf(cert)
    expect([length, extensions[altNames], new X509Certificate(cert).subjectAltName]).toEqual([length, false, `DNS:${name}`])
  }
})

test('PEM lines have 64 characters, and a common name at most as many', () => {
  const { cert } = generateCertificate('b'.repeat(80))
  const lines = cert.trimEnd().split('\n').slice(1, -1)
  expect(new Set(lines.slice(0, -1).map((line) => line.length))).toEqual(new Set([64]))
  expect(new X509Certificate(cert).subject).toBe(`CN=${'b'.repeat(64)}`)
})

test.each(['2026-03-01T10:20:30Z', '2039-12-30T00:00:00Z', '2040-06-01T00:00:00Z', '2051-02-03T04:05:06Z'])(
  'validity at %s, around the change of the form of times in 2050',
  (at) => {
    vi.useFakeTimers({ now: new Date(at), toFake: ['Date'] })
    const { raw, validFrom, validTo } = new X509Certificate(generateCertificate('mx.example').cert)
    const dayMs = 86_400_000
    expect([Date.parse(validFrom), Date.parse(validTo)]).toEqual([nowMs() - dayMs, nowMs() + 3650 * dayMs])
    const body = elementsOf(elementsOf(elementsOf(raw)[0]?.content as Buffer)[0]?.content as Buffer)
    const tags = elementsOf(body[4]?.content as Buffer).map(({ tag }) => tag)
    expect(tags).toEqual([nowMs() - dayMs, nowMs() + 3650 * dayMs].map((ms) => (ms < Date.UTC(2050, 0) ? 0x17 : 0x18)))
  },
)

test('an issuer keeps the equals signs of its name', () => {
  const authority = generateAuthority('x CN=y', ['tunnel.localhost'])
  expect(new X509Certificate(issueCertificate(authority, 'tunnels', ['tunnel.localhost']).cert).issuer).toBe('CN=x CN=y')
})

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
