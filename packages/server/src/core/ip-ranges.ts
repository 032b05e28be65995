// IP addresses and CIDR ranges, as limits of keys and as trusted proxies.
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address in its plain notation, or null. An IPv4 address inside of IPv6 is IPv4. */
function readAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return null
  const address = ipaddr.IPv6.parse(text)
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

export const isAddress = (text: string): boolean => readAddress(text) !== null

/** An address or CIDR range in its canonical form, such as 10.0.0.0/8 or 2001:db8::1/128. Null for any other text. */
export function readRange(text: string): string | null {
  const [host = '', bits, more] = text.split('/')
  const address = readAddress(host)
  const bitsMax = address?.kind() === 'ipv4' ? 32 : 128
  const isMapped = host.includes(':') && bitsMax === 32
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (!address || more !== undefined || !(length <= bitsMax) || (isMapped && bits !== undefined)) return null
  const network = (bitsMax === 32 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${address.toString()}/${length}`)
  return `${network.toString()}/${length}`
}

const includes = (range: string, address: Address): boolean => {
  const [network, length] = ipaddr.parseCIDR(range)
  return network.kind() === address.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, length)
}

/** True if the address is in one of the ranges. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  const read = readAddress(address)
  return read !== null && ranges.some((range) => includes(range, read))
}

/** True if each of the inner ranges lies within an outer one. As limits of a key, no ranges at all are any address. */
export function isWithin(inner: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true
  const lengthOf = (range: string): number => ipaddr.parseCIDR(range)[1]
  const covers = (wide: string, narrow: string) => lengthOf(wide) <= lengthOf(narrow) && includes(wide, ipaddr.parseCIDR(narrow)[0])
  return inner.length > 0 && inner.every((range) => outer.some((one) => covers(one, range)))
}
