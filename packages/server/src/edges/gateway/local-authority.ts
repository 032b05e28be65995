// A certificate authority of this machine, for https:// tunnels in development. It is created once and is valid only for names below the
// tunnel domain and for the host that clients connect to.
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateAuthority, issueCertificate } from '../../core/certificate.ts'
import { inMs } from '../../core/clock.ts'

const renewBeforeMs = 30 * 86_400_000

/**
 * Files of a certificate for `*.domain` and for the host that clients connect to, signed by the authority in the folder. Both are created
 * when they are missing or belong to other names.
 */
export function localCertificate(folder: string, domain: string, connectHost: string | null): { cert: string; key: string } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const files = {
    authority: join(folder, 'authority.pem'),
    authorityKey: join(folder, 'authority-key.pem'),
    cert: join(folder, 'certificate.pem'),
    key: join(folder, 'certificate-key.pem'),
  }
  const names = connectHost === null ? [domain] : [domain, connectHost]
  const title = `Callsign tunnels (${names.join(' and ')})`.slice(0, 64)
  if (!existsSync(files.authority) || new X509Certificate(readFileSync(files.authority)).subject !== `CN=${title}`) {
    const made = generateAuthority(title, names)
    writeFileSync(files.authorityKey, made.key, { mode: 0o600 })
    writeFileSync(files.authority, made.cert)
  }
  const authority = { cert: readFileSync(files.authority, 'utf8'), key: readFileSync(files.authorityKey, 'utf8') }
  if (!isGood(files.cert, authority.cert)) {
    const issued = issueCertificate(authority, `*.${domain}`, [`*.${domain}`, ...names])
    writeFileSync(files.key, issued.key, { mode: 0o600 })
    writeFileSync(files.cert, issued.cert)
  }
  return { cert: files.cert, key: files.key }
}

function isGood(file: string, authority: string): boolean {
  if (!existsSync(file)) return false
  const certificate = new X509Certificate(readFileSync(file))
  return certificate.verify(new X509Certificate(authority).publicKey) && certificate.validToDate > inMs(renewBeforeMs)
}
