// Prepares message bytes for DATA, and addresses for MAIL and RCPT.
import { domainToASCII } from 'node:url'
import { localBytesMax } from '@callsign/mail/mail-address'

/**
 * Message bytes after the transparency procedure (RFC 5321 §4.5.2), including the final dot, and the extensions they need. 8BITMIME is for
 * octets above 127 anywhere, SMTPUTF8 for such octets in the header (RFC 6531).
 */
export type PreparedData = { wire: Buffer; sizeBytes: number; hasEightBit: boolean; hasEightBitHeader: boolean }

/** The end of data after a finished line. Alone, it ends a transaction that must not carry a message (RFC 2920 §3.1). */
export const endOfData = Buffer.from('.\r\n')
const endOfDataAfterOpenLine = Buffer.from('\r\n.\r\n')

/**
 * Checks and dot-stuffs a whole message in time linear in its size. Returns null for a message with a bare CR, a bare LF or a NUL.
 * Sending it could end the data early on a later server (SMTP smuggling), and repairing it would break its signature.
 */
export function prepareData(raw: Buffer): PreparedData | null {
  const length = raw.length
  let dots = 0
  let high = 0
  let isLineStart = true
  for (let i = 0; i < length; i++) {
    const byte = raw[i] as number
    if (byte > 46) {
      high |= byte
      isLineStart = false
    } else if (byte === 46) {
      if (isLineStart) dots++
      isLineStart = false
    } else if (byte === 13) {
      if (raw[++i] !== 10) return null
      isLineStart = true
    } else if (byte === 10 || byte === 0) {
      return null
    } else {
      isLineStart = false
    }
  }
  const end = isLineStart ? endOfData : endOfDataAfterOpenLine
  const wire = Buffer.allocUnsafe(length + dots + end.length)
  if (dots === 0) {
    wire.set(raw, 0)
  } else {
    stuff(raw, wire)
  }
  wire.set(end, length + dots)
  return { wire, sizeBytes: length, hasEightBit: high > 127, hasEightBitHeader: high > 127 && hasEightBitHeader(raw) }
}

/** Like prepareData, with results cached for the lifetime of the buffer, so that a message with many recipients is prepared once. */
export function createPrepare(): (raw: Buffer) => PreparedData | null {
  const known = new WeakMap<Buffer, PreparedData | null>()
  return (raw) => {
    let data = known.get(raw)
    if (data === undefined) {
      data = prepareData(raw)
      known.set(raw, data)
    }
    return data
  }
}

function hasEightBitHeader(raw: Buffer): boolean {
  const end = raw.indexOf('\r\n\r\n')
  return raw.subarray(0, end === -1 ? raw.length : end).some((byte) => byte > 127)
}

/** Copies with a second dot wherever a line starts with one. Works octet by octet, so that a message of only dots costs no more. */
function stuff(raw: Buffer, wire: Buffer): void {
  let at = 0
  let isLineStart = true
  for (let i = 0; i < raw.length; i++) {
    const byte = raw[i] as number
    if (isLineStart && byte === 46) wire[at++] = 46
    wire[at++] = byte
    isLineStart = byte === 10
  }
}

/** An address as written between the angle brackets, with its domain in A-labels. */
export type WirePath = { path: string; needsSmtputf8: boolean }

// A dot-atom or a quoted-string (RFC 5321 §4.1.2), with UTF-8 (RFC 6531 §3.3). Leading and double dots are accepted, because they exist.
const localPart = /^(?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.\u00a0-\u{10ffff}]+|"(?:[^"\\\p{Cc}]|\\[\u0020-\u007e])*")$/u
const hostName = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?$/
const addressLiteral = /^\[[A-Za-z0-9:.]{2,60}\]$/

/** The path of an address, or null when it cannot stand in a command. The empty address is the null sender. */
export function wirePath(address: string): WirePath | null {
  if (address === '') return { path: '', needsSmtputf8: false }
  const at = address.lastIndexOf('@')
  if (at < 1 || at > localBytesMax) return null
  const local = address.slice(0, at)
  const domain = asciiDomain(address.slice(at + 1))
  if (!localPart.test(local) || domain === null || !local.isWellFormed()) return null
  return { path: `${local}@${domain}`, needsSmtputf8: /\P{ASCII}/u.test(local) }
}

function asciiDomain(domain: string): string | null {
  if (addressLiteral.test(domain) || hostName.test(domain)) return domain
  // Only names beyond ASCII are converted, because the converter is made for URLs and so decodes %41 and reads numbers as IPv4 addresses.
  if (/^\p{ASCII}*$/u.test(domain)) return null
  const ascii = domainToASCII(domain)
  return hostName.test(ascii) && !/(?:^|\.)\d+$/.test(ascii) ? ascii : null
}
