// Returned mail for tests. Captured reports get a return path and are delivered to a server as by another mail server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'

const folder = join(import.meta.dirname, '..', '..', '..', 'mail', 'tests', 'returned')

/** A captured report, its return path replaced, and the recipient that it is about. */
export function captured(name: string, returnPath: string): { raw: string; recipient: string } {
  const raw = readFileSync(join(folder, `${name}.eml`), 'utf8')
    .replaceAll('RETURN-PATH', returnPath)
    .replaceAll('\n', '\r\n')
  return { raw, recipient: /^Final-Recipient: rfc822; ?(\S+)/im.exec(raw)?.[1] as string }
}

/** A complaint in the Abuse Reporting Format (RFC 5965) about a message with this return path. */
export const complaint = (path: string, type = 'abuse'): string =>
  `From: feedback@provider.example\nTo: bounce@agents.localhost\nSubject: FW: Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\nContent-Type: text/plain\n\nThis is an email abuse report.\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: ${type}\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nOriginal-Mail-From: <${path}>\n\n--b\nContent-Type: message/rfc822\n\nReturn-Path: <${path}>\nFrom: ann@agents.localhost\nSubject: Hello\n\nHello there\n--b--\n`

/** Hands raw mail to the server on this port. Rejects with its answer when it refuses. */
export async function handIn(port: number, mail: { from?: string; to: string | string[]; raw: string }): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
  try {
    await transport.sendMail({ envelope: { from: mail.from ?? '', to: [mail.to].flat() }, raw: mail.raw.replace(/\r?\n/g, '\r\n') })
  } finally {
    transport.close()
  }
}
