// Decides which addresses the outbound guard may connect to: public ones, and the ranges that the operator allows.
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Decides whether one address may be connected to, in any textual form that a resolver or socket returns. */
export type AddressRules = { allows(address: string): boolean }

const ranges = (cidrs: string[]): Range[] => cidrs.map((cidr) => ipaddr.parseCIDR(cidr))

// Public by registry, but served by the cloud's own hypervisor: Azure's host service, and the metadata services of Alibaba, AWS and Oracle
// over IPv4 and IPv6.
// The latter are in carrier-grade NAT, link-local or unique-local ranges already, and are listed for clarity.
const metadataServices = new Set(['168.63.129.16', '100.100.100.200', '169.254.169.254', '192.0.0.192', 'fd00:ec2::254'])

// Addresses that contain an IPv4 address. Allowing the range still does not allow a private address through it.
const nat64 = ranges(['64:ff9b::/96'])[0] as Range
const globalUnicast = ranges(['2000::/3'])[0] as Range

/**
 * Rules that allow every globally routable unicast address, plus `allowCidrs` (`127.0.0.0/8`, `fd00::/8`, a bare address is not a range).
 * Throws an Error when a range is malformed.
 */
export function createAddressRules(allowCidrs: string[]): AddressRules {
  const allowed = allowCidrs.map((cidr): Range => {
    if (!ipaddr.isValidCIDR(cidr)) throw new Error(`"${cidr}" is not an address range such as 10.0.0.0/8 or fd00::/8`)
    return ipaddr.parseCIDR(cidr)
  })
  const isAllowed = (address: Address): boolean => {
    if (allowed.some(([network, bits]) => isWithin(address, [network, bits]))) {
      return !isWithin(address, nat64) || isAllowed(embeddedIpv4(address))
    }
    return isPublic(address)
  }
  return {
    allows(text) {
      // A zone id (fe80::1%eth0) names a link of this machine, and resolvers may return IPv4 only in four-part decimal.
      if (text.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) return false
      return isAllowed(ipaddr.process(text))
    },
  }
}

/** The canonical form of an address, for comparisons. IPv4 inside IPv6 (::ffff:a.b.c.d) becomes IPv4. */
export const canonicalAddress = (text: string): string => ipaddr.process(text).toString()

function isPublic(address: Address): boolean {
  if (metadataServices.has(address.toString())) return false
  // ipaddr.js returns "unicast" for any address outside the special ranges. For IPv6 only 2000::/3 is assigned (RFC 4291 §2.4, IANA
  // registry).
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}

function isWithin(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

function embeddedIpv4(address: Address): Address {
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}
