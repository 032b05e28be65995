// Which addresses the outbound guard may talk to: public ones, and the ranges that the operator lets through.
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Answers whether one address, in any textual form that a resolver or socket reports, may be connected to. */
export type AddressRules = { allows(address: string): boolean }

const ranges = (cidrs: string[]): Range[] => cidrs.map((cidr) => ipaddr.parseCIDR(cidr))

// Public by registry, but answered by the cloud's own hypervisor: Azure's host service, and the metadata services of Alibaba (inside
// carrier-grade NAT already, listed so that nobody has to know) and of AWS and Oracle over IPv6 and IPv4 (link-local or unique-local already).
const metadataServices = new Set(['168.63.129.16', '100.100.100.200', '169.254.169.254', '192.0.0.192', 'fd00:ec2::254'])

// Addresses that carry an IPv4 address inside: whoever allows the range still does not allow a private address through it.
const nat64 = ranges(['64:ff9b::/96'])[0] as Range
const globalUnicast = ranges(['2000::/3'])[0] as Range

/**
 * Rules that allow every globally routable unicast address, plus `allowCidrs` (`127.0.0.0/8`, `fd00::/8`, a bare address is not a range).
 * Throws an Error with a sentence when a range cannot be read.
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
      // A zone id (fe80::1%eth0) names a link of this machine, and four-part decimal is the only IPv4 form that a resolver may answer.
      if (text.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) return false
      return isAllowed(ipaddr.process(text))
    },
  }
}

/** The one spelling of an address, so that two can be compared; IPv4 inside IPv6 (::ffff:a.b.c.d) becomes IPv4. */
export const canonicalAddress = (text: string): string => ipaddr.process(text).toString()

function isPublic(address: Address): boolean {
  if (metadataServices.has(address.toString())) return false
  // ipaddr.js calls "unicast" whatever is in no special range; for IPv6 only 2000::/3 is handed out (RFC 4291 §2.4, IANA registry).
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}

function isWithin(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

function embeddedIpv4(address: Address): Address {
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}
