// Argon2id (RFC 9106, version 1.3), by Node where available (24.7 and later) and by WebAssembly elsewhere.
import { type Bytes, nodeModule } from './bytes.ts'

/** `memoryKib`, `passes` and `lanes` are RFC 9106's m, t and p. `bytes` is the length of the tag. */
export type Argon2Input = { password: Bytes; salt: Bytes; memoryKib: number; passes: number; lanes: number; bytes: number }

type NodeArgon2 = (
  algorithm: 'argon2id',
  parameters: { message: Uint8Array; nonce: Uint8Array; parallelism: number; tagLength: number; memory: number; passes: number },
  done: (error: Error | null, tag: Uint8Array) => void,
) => void

const findNodeArgon2 = (): NodeArgon2 | undefined => nodeModule<{ argon2?: NodeArgon2 }>('node:crypto')?.argon2

export const hasNodeArgon2 = findNodeArgon2() !== undefined

/** Returns the tag. Node's engine runs beside the event loop. WebAssembly blocks its thread, so call it from a worker on a page. */
export const argon2id = (input: Argon2Input): Promise<Bytes> => (hasNodeArgon2 ? argon2idByNode(input) : argon2idByWasm(input))

/** Rejects if Node does not have Argon2. */
export function argon2idByNode(input: Argon2Input): Promise<Bytes> {
  const { password, salt, memoryKib, passes, lanes, bytes } = input
  return new Promise((resolve, reject) => {
    const nodeArgon2 = findNodeArgon2()
    if (!nodeArgon2) throw new Error('this runtime does not have Argon2')
    const parameters = { message: password, nonce: salt, parallelism: lanes, tagLength: bytes, memory: memoryKib, passes }
    nodeArgon2('argon2id', parameters, (error, tag) => (error ? reject(error) : resolve(new Uint8Array(tag))))
  })
}

export async function argon2idByWasm(input: Argon2Input): Promise<Bytes> {
  const { password, salt, memoryKib, passes, lanes, bytes } = input
  const wasm = await import('hash-wasm')
  const options = { password, salt, parallelism: lanes, iterations: passes, memorySize: memoryKib, hashLength: bytes }
  return new Uint8Array(await wasm.argon2id({ ...options, outputType: 'binary' }))
}
