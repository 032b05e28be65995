// Writes the Received field of an accepted message (RFC 5321 §4.4).
import { isAddressLiteral } from './address.ts'
import type { Envelope } from './receiver.ts'

/**
 * The field with its CRLF, folded. Its parts come from this server or from parsers that refuse line ends, spaces and parentheses
 * (recipient, cipher). A client name that is not a host name or address literal has its other characters as `?`.
 * The recipient is named only when there is one, because naming more would reveal blind copies.
 */
export function renderReceived(envelope: Envelope, hostname: string, at: Date): string {
  const { clientAddress } = envelope
  const tcpInfo = clientAddress.includes(':') ? `[IPv6:${clientAddress}]` : `[${clientAddress}]`
  const tls = envelope.tls ? `\r\n\ttls ${envelope.tls.cipher} (${envelope.tls.version})` : ''
  const recipient = envelope.recipients.length === 1 ? `\r\n\tfor <${envelope.recipients[0]}>` : ''
  return (
    `Received: from ${shownName(envelope.clientName)} (${tcpInfo})\r\n\tby ${hostname} with ${protocolKeyword(envelope)} id ${envelope.id}` +
    `${tls}${recipient};\r\n\t${at.toUTCString().replace('GMT', '+0000')}\r\n`
  )
}

/** The registered "with" keyword (RFC 3848, RFC 6531 §4.3). HELO has no keyword of its own for TLS. */
function protocolKeyword({ esmtp, smtputf8, tls, account }: Envelope): string {
  if (!esmtp) return 'SMTP'
  return `${smtputf8 ? 'UTF8SMTP' : 'ESMTP'}${tls ? 'S' : ''}${account ? 'A' : ''}`
}

/** A name that cannot be read as a comment, as another clause, or as the end of the field. */
const shownName = (name: string): string => (isAddressLiteral(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, '?'))
