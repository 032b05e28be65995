// A WebAuthn authenticator in software (Level 3, sections 6.1 and 6.5), with one ES256 credential and no attestation.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Json } from './start.ts'

const sha256 = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest()

/** The few forms of CBOR (RFC 8949) that an attestation needs. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value)
  if (value < 256) return Buffer.of((major << 5) | 24, value)
  return Buffer.of((major << 5) | 25, value >> 8, value & 255)
}
const integer = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value))
const bytes = (value: Buffer): Buffer => Buffer.concat([head(2, value.length), value])
const text = (value: string): Buffer => Buffer.concat([head(3, value.length), Buffer.from(value)])
const map = (...pairs: [Buffer, Buffer][]): Buffer => Buffer.concat([head(5, pairs.length), ...pairs.flat()])

const userPresent = 0x01
const userVerified = 0x04
const attested = 0x40

type Change = { origin?: string; rpId?: string; counter?: number; verified?: boolean; challenge?: string; userHandle?: string }

export function createAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(32)
  let counter = 0
  let handle = ''

  const clientData = (type: string, challenge: string, change: Change): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: change.challenge ?? challenge, origin: change.origin ?? origin, crossOrigin: false }))

  function authenticatorData(rpId: string, more: Buffer, flags: number, change: Change): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(change.counter ?? ++counter)
    const all = userPresent | (change.verified === false ? 0 : userVerified) | flags
    return Buffer.concat([sha256(change.rpId ?? rpId), Buffer.of(all), count, more])
  }

  const credential = (response: Record<string, string>) => ({
    id: credentialId.toString('base64url'),
    rawId: credentialId.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    /** `navigator.credentials.create` with the options of the server. */
    create(options: Json, change: Change = {}) {
      const cose = map(
        [integer(1), integer(2)],
        [integer(3), integer(-7)],
        [integer(-1), integer(1)],
        [integer(-2), bytes(Buffer.from(x, 'base64url'))],
        [integer(-3), bytes(Buffer.from(y, 'base64url'))],
      )
      handle = options.user.id
      const more = Buffer.concat([Buffer.alloc(16), Buffer.of(0, credentialId.length), credentialId, cose])
      const authData = authenticatorData(options.rp.id, more, attested, change)
      const attestation = map([text('fmt'), text('none')], [text('attStmt'), map()], [text('authData'), bytes(authData)])
      return credential({
        clientDataJSON: clientData('webauthn.create', options.challenge, change).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
      })
    },
    /** `navigator.credentials.get` with the options of the server. */
    get(options: Json, change: Change = {}) {
      const data = clientData('webauthn.get', options.challenge, change)
      const authData = authenticatorData(options.rpId, Buffer.alloc(0), 0, change)
      return credential({
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey).toString('base64url'),
        userHandle: change.userHandle ?? handle,
      })
    },
  }
}
