// Validates a URL supplied by a caller, before any lookup or connection.
import { FetchRefused } from '../../core/web.ts'

/** The parts of a valid URL. `hostname` has no brackets and no trailing dot. */
export type OutboundTarget = { url: URL; hostname: string; port: number; isTls: boolean }

const urlLengthMax = 2048

// Ports of other protocols, from "bad port" in the Fetch Standard. They prevent HTTP requests to mail, DNS, SIP or X11 servers. Any other
// port is allowed.
// biome-ignore format: a table
const foreignPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119,
  123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/**
 * Reads and checks a URL, relative to `from` for redirects. The WHATWG parser has already converted every spelling of an IPv4 address
 * (decimal, octal, hex, short, full-width, percent-encoded, trailing dot) to four decimal parts. Throws FetchRefused.
 */
export function parseOutboundUrl(text: string, from?: URL): OutboundTarget {
  if (text.length > urlLengthMax) throw refuse(`The URL is longer than ${urlLengthMax} characters.`)
  const url = URL.parse(text, from?.href)
  if (!url) throw refuse('The URL cannot be read.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('The URL must start with http:// or https://.')
  if (url.username !== '' || url.password !== '') throw refuse('The URL must not contain a user name or password.')
  if (from?.protocol === 'https:' && url.protocol === 'http:')
    throw refuse('The server redirects from https to http, which is not followed.')
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  if (foreignPorts.has(port)) throw refuse(`Port ${port} belongs to another protocol than HTTP.`)
  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (hostname === '' || hostname.length > 253) throw refuse('The URL has no usable host name.')
  return { url, hostname, port, isTls }
}

const refuse = (message: string): FetchRefused => new FetchRefused(message, 'invalid_url')
