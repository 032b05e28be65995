// Return paths that identify the recipient of a bounce: message, recipient, and a code that only this installation can compute.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { idPrefixes, isId } from '@callsign/contract/ids'
import type { ReturnAddressee, ReturnPaths } from './model.ts'

/** The prefix of every return path. The handle `bounce` is reserved. */
const localPrefix = 'bounce+'
/** 100 bits as 20 characters of the id alphabet, which survives a change of case. */
const codeCharacters = 20
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pattern = new RegExp(`^bounce\\+([0-9a-z]{26})-(\\d{1,3})-([0-9a-z]{${codeCharacters}})$`)

export function createReturnPaths(keyBytes: Buffer, mailDomain: string): ReturnPaths {
  // Created once, because creating a key object takes four times as long as computing the code.
  const key = createSecretKey(keyBytes)
  const codeOf = ({ messageId, position }: ReturnAddressee): string => {
    const mac = createHmac('sha256', key).update(`${messageId} ${position}`).digest()
    return Array.from(mac.subarray(0, codeCharacters), (byte) => alphabet[byte & 31]).join('')
  }
  const localPartOf = (address: string): string | null => {
    const at = address.lastIndexOf('@')
    if (address.slice(at + 1).toLowerCase() !== mailDomain) return null
    const local = address.slice(0, at).toLowerCase()
    return local.startsWith(localPrefix) ? local : null
  }
  return {
    make(addressee) {
      const id = addressee.messageId.slice(idPrefixes.message.length + 1)
      return `${localPrefix}${id}-${addressee.position}-${codeOf(addressee)}@${mailDomain}`
    },
    read(address) {
      const [, id, position, code] = pattern.exec(localPartOf(address) ?? '') ?? []
      const addressee = { messageId: `${idPrefixes.message}_${id}`, position: Number(position) }
      if (code === undefined || !isId('message', addressee.messageId)) return null
      return timingSafeEqual(Buffer.from(code), Buffer.from(codeOf(addressee))) ? addressee : null
    },
    isReturnPath: (address) => localPartOf(address) !== null,
  }
}
