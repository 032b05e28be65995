// Makes DKIM key pairs, off the main thread: an RSA key takes a tenth of a second of work.
import { generateKeyPair, type KeyObject } from 'node:crypto'
import type { DkimAlgorithm } from './key-publication.ts'

/** A new key pair: the private half as PEM (PKCS 8), the public one as the p= tag has it. */
export type KeyPair = { algorithm: DkimAlgorithm; privatePem: string; publicKey: string }

/** RSA keys have 2048 bits: more would not fit into one UDP answer everywhere, and fewer are refused by some. */
const rsaBits = 2048
/** What stands before the 32 octets of an Ed25519 key in its SubjectPublicKeyInfo; the record holds the bare key (RFC 8463 §4.2). */
const ed25519Prefix = 12

export function generateKeyPairFor(algorithm: DkimAlgorithm): Promise<KeyPair> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => {
      if (error) return reject(error)
      const spki = publicKey.export({ type: 'spki', format: 'der' })
      resolve({
        algorithm,
        privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        publicKey: (algorithm === 'rsa-sha256' ? spki : spki.subarray(ed25519Prefix)).toString('base64'),
      })
    }
    if (algorithm === 'rsa-sha256') generateKeyPair('rsa', { modulusLength: rsaBits }, done)
    else generateKeyPair('ed25519', {}, done)
  })
}
