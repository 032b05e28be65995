// Argon2id. Tests both engines against the reference implementation's values, and Node's against RFC 9106's own vector, which needs more inputs.
import { argon2 } from 'node:crypto'
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { argon2idByNode, argon2idByWasm, hasNodeArgon2 } from './argon2.ts'
import { encodeHex, encodeUtf8 } from './bytes.ts'

// phc-winner-argon2, src/test.c, version 0x13 (CC0 or Apache-2.0). The case of 256 MiB is there too.
const reference: [passes: number, logMemory: number, lanes: number, password: string, salt: string, tag: string][] = [
  [2, 16, 1, 'password', 'somesalt', '09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7'],
  [2, 18, 1, 'password', 'somesalt', '78fe1ec91fb3aa5657d72e710854e4c3d9b9198c742f9616c2f085bed95b2e8c'],
  [2, 8, 1, 'password', 'somesalt', '9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe'],
  [2, 8, 2, 'password', 'somesalt', '6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037'],
  [1, 16, 1, 'password', 'somesalt', 'f6a5adc1ba723dddef9b5ac1d464e180fcd9dffc9d1cbf76cca2fed795d9ca98'],
  [4, 16, 1, 'password', 'somesalt', '9025d48e68ef7395cca9079da4c4ec3affb3c8911fe4f86d1a2520856f63172c'],
  [2, 16, 1, 'differentpassword', 'somesalt', '0b84d652cf6b0c4beaef0dfe278ba6a80df6696281d7e0d2891b817d8c458fde'],
  [2, 16, 1, 'password', 'diffsalt', 'bdf32b05ccc42eb15d58fd19b1f856b113da1e9a5874fdcc544308565aa8141c'],
]

const engines = [
  { name: 'Node', derive: argon2idByNode },
  { name: 'WebAssembly', derive: argon2idByWasm },
]

test('this Node has Argon2, so both engines are tested', () => {
  expect(hasNodeArgon2).toBe(true)
})

for (const { name, derive } of engines) {
  test(`${name} matches the eight values of the reference implementation`, async () => {
    for (const [passes, logMemory, lanes, password, salt, tag] of reference) {
      const input = { password: encodeUtf8(password), salt: encodeUtf8(salt), memoryKib: 2 ** logMemory, passes, lanes, bytes: 32 }
      expect(encodeHex(await derive(input))).toBe(tag)
    }
  })
}

// RFC 9106 §5.3. It has a secret and associated data, which the vault does not use, so the engines are called directly.
test('RFC 9106 §5.3 on the engine of Node and on the oracle of these tests', async () => {
  const rfc = '0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659'
  const bytes = (value: number, size: number) => new Uint8Array(size).fill(value)
  const [message, nonce, secret, associatedData] = [bytes(1, 32), bytes(2, 16), bytes(3, 8), bytes(4, 12)]
  const byNode = await new Promise<Uint8Array>((resolve, reject) =>
    argon2('argon2id', { message, nonce, secret, associatedData, parallelism: 4, tagLength: 32, memory: 32, passes: 3 }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
  expect(encodeHex(byNode)).toBe(rfc)
  const oracle = nobleArgon2id(message, nonce, {
    t: 3,
    m: 32,
    p: 4,
    dkLen: 32,
    key: secret,
    personalization: associatedData,
    version: 0x13,
  })
  expect(encodeHex(oracle)).toBe(rfc)
})

test('both engines and the oracle agree on any input', async () => {
  const input = fc.record({
    password: fc.uint8Array({ minLength: 1, maxLength: 80 }),
    salt: fc.uint8Array({ minLength: 16, maxLength: 64 }),
    memoryKib: fc.integer({ min: 128, max: 512 }),
    passes: fc.integer({ min: 1, max: 3 }),
    lanes: fc.integer({ min: 1, max: 16 }),
  })
  await fc.assert(
    fc.asyncProperty(input, async ({ password, salt, memoryKib, passes, lanes }) => {
      const ours = { password: new Uint8Array(password), salt: new Uint8Array(salt), memoryKib, passes, lanes, bytes: 32 }
      const oracle = nobleArgon2id(password, salt, { t: passes, m: memoryKib, p: lanes, dkLen: 32, version: 0x13 })
      expect(await argon2idByNode(ours)).toEqual(new Uint8Array(oracle))
      expect(await argon2idByWasm(ours)).toEqual(new Uint8Array(oracle))
    }),
    { numRuns: 25 },
  )
})
