// IP addresses as bytes, for comparing by prefix.
import ipaddr from 'ipaddr.js'

/** 4 or 16 bytes. */
export type IpAddress = Uint8Array

const dottedDecimal = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const group = /^[0-9a-f]{1,4}$/i
const groups = 8

/** Reads an IPv4 or IPv6 address and drops a zone index. Null for other text. IPv4 with leading zeros is refused, because some systems read them as octal. */
export function readIp(text: string): IpAddress | null {
  if (dottedDecimal.test(text)) return Uint8Array.from(text.split('.'), Number)
  return readIp6(text.replace(/%.*$/, ''))
}

/** Reads the address of a client. An IPv4-mapped IPv6 address is IPv4 (RFC 7208 §5). */
export function readClientIp(text: string): IpAddress | null {
  const bytes = readIp(text.trim())
  const isMapped = bytes?.length === 16 && bytes.every((byte, index) => index >= 12 || byte === (index >= 10 ? 0xff : 0))
  return bytes && isMapped ? bytes.slice(12) : bytes
}

function readIp6(text: string): IpAddress | null {
  const halves = text.split('::')
  if (!text.includes(':') || halves.length > 2) return null
  const [before, after] = [readGroups(halves[0] as string, halves.length === 1), readGroups(halves[1] ?? '', true)]
  if (!before || !after) return null
  const left = groups - before.length - after.length
  if (halves.length === 1 ? left !== 0 : left < 1) return null
  const bytes = new Uint8Array(groups * 2)
  for (const [index, value] of [...before, ...Array<number>(left).fill(0), ...after].entries()) {
    bytes[index * 2] = value >> 8
    bytes[index * 2 + 1] = value & 0xff
  }
  return bytes
}

/** The 16-bit groups of a part. At the end of the address, the last group may be an IPv4 address. */
function readGroups(text: string, isEnd: boolean): number[] | null {
  if (text === '') return []
  const values: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (group.test(part)) values.push(Number.parseInt(part, 16))
    else if (isEnd && index === parts.length - 1 && dottedDecimal.test(part)) {
      const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
      values.push((a << 8) | b, (c << 8) | d)
    } else return null
  }
  return values
}

/** True when the first `bits` of two addresses of one family are equal. */
export function isInNetwork(address: IpAddress, network: IpAddress, bits: number): boolean {
  if (address.length !== network.length) return false
  const whole = bits >> 3
  for (let index = 0; index < whole; index++) if (address[index] !== network[index]) return false
  const rest = bits & 7
  return rest === 0 || ((address[whole] as number) ^ (network[whole] as number)) >> (8 - rest) === 0
}

/** The form of the macro %{i} (RFC 7208 §7.3): dotted IPv4, or dotted nibbles of IPv6. */
export const dottedIp = (address: IpAddress): string =>
  address.length === 4
    ? address.join('.')
    : Array.from(address, (byte) => `${(byte >> 4).toString(16)}.${(byte & 15).toString(16)}`).join('.')

/** The canonical text of an address (RFC 5952). */
export const readableIp = (address: IpAddress): string =>
  address.length === 4 ? address.join('.') : ipaddr.fromByteArray([...address]).toString()
