// Generates DKIM key pairs off the main thread. An RSA key takes 0.1 seconds of processor time.
import { generateKeyPair, type KeyObject } from 'node:crypto'
import type { DkimAlgorithm } from './key-publication.ts'

/** A new key pair: the private key as PEM (PKCS #8), the public key as the value of the p= tag. */
export type KeyPair = { algorithm: DkimAlgorithm; privatePem: string; publicKey: string }

/** Larger keys do not fit into one UDP answer everywhere, and some receivers refuse smaller ones. */
const rsaBits = 2048
/** Octets before the 32 octets of an Ed25519 key in its SubjectPublicKeyInfo. The record holds the bare key (RFC 8463 §4.2). */
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
