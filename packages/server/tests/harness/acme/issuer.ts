// A certificate authority of two levels that checks requests for certificates (RFC 2986) and signs certificates (RFC 5280).
import 'reflect-metadata'
import { randomBytes, X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { Problem } from './jws.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000
const rsaBitsMin = 2048

export type Issued = { chain: string; leaf: X509Certificate; serial: string }
export type Issuer = {
  /** PEM of the root. */
  root: string
  /** The identifier of the key that signs certificates. */
  keyId: Buffer
  /** The names and the public key (SPKI) of a request. Throws a Problem. */
  readRequest(der: Buffer): Promise<{ names: string[]; spki: Buffer; request: x509.Pkcs10CertificateRequest }>
  issue(request: x509.Pkcs10CertificateRequest, names: string[], lifetimeMs: number): Promise<Issued>
}

const serialNumber = (): string => `00${randomBytes(15).toString('hex')}`
const badCsr = (detail: string) => new Problem(400, 'badCSR', detail)

const alternativeNames = '2.5.29.17'

function readAlternativeNames(request: x509.Pkcs10CertificateRequest): { type: string; value: string }[] {
  const extension = request.getExtension(alternativeNames)
  return extension ? [...new x509.SubjectAlternativeNameExtension(extension.rawData).names.items] : []
}

export async function createIssuer(): Promise<Issuer> {
  x509.cryptoProvider.set(globalThis.crypto)
  const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const [rootKeys, keys] = await Promise.all([makeKeys(), makeKeys()])
  const validity = { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 365 * dayMs) }
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: 'CN=Test Root',
    keys: rootKeys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
  })
  const intermediate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    subject: 'CN=Test Intermediate',
    issuer: root.subject,
    publicKey: keys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  })

  return {
    root: `${root.toString('pem')}\n`,
    keyId: Buffer.from(intermediate.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId as string, 'hex'),

    async readRequest(der) {
      let request: x509.Pkcs10CertificateRequest
      try {
        request = new x509.Pkcs10CertificateRequest(der)
      } catch {
        throw badCsr('the request for a certificate cannot be read')
      }
      if (!(await request.verify())) throw badCsr('the request for a certificate has a wrong signature')
      const { modulusLength } = request.publicKey.algorithm as { modulusLength?: number }
      if (modulusLength !== undefined && modulusLength < rsaBitsMin) throw badCsr(`RSA keys need ${rsaBitsMin} bits`)
      const alternative = readAlternativeNames(request)
      if (alternative.some(({ type }) => type !== 'dns')) throw badCsr('only DNS names are certified')
      const common = request.subjectName.getField('CN')
      const names = [...new Set([...common, ...alternative.map(({ value }) => value)].map((name) => name.toLowerCase()))]
      return { names, spki: Buffer.from(request.publicKey.rawData), request }
    },

    async issue(request, names, lifetimeMs) {
      const leaf = await x509.X509CertificateGenerator.create({
        notBefore: new Date(Date.now() - 1000),
        notAfter: new Date(Date.now() + lifetimeMs),
        serialNumber: serialNumber(),
        subject: '',
        issuer: intermediate.subject,
        publicKey: request.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: 'dns' as const, value })),
            true,
          ),
          await x509.SubjectKeyIdentifierExtension.create(request.publicKey),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      })
      const chain = `${leaf.toString('pem')}\n${intermediate.toString('pem')}\n`
      return { chain, leaf: new X509Certificate(chain), serial: leaf.serialNumber }
    },
  }
}
