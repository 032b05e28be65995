// Encrypts every stored blob under the current key: the last step of a key rotation, and the first of encryption.
import type { EncryptedBlobs } from '../edges/blobs/encrypted.ts'

/** Returns a sentence with the counts. May be repeated, and may run beside a server that has the same keys. */
export async function reencryptBlobs(blobs: EncryptedBlobs): Promise<string> {
  let all = 0
  let changed = 0
  for await (const key of blobs.list(0)) {
    all++
    if (await blobs.reencrypt(key)) changed++
  }
  return `encrypted ${changed} of ${all} files. The others were encrypted under this key already.`
}
