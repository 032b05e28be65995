// The doctor's checks of this machine, which cover Node, the data directory, the disk, the keyring and the certificate.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { nowMs } from '../core/clock.ts'
import { attention, daysUntil, expirySoonDays, type Finding, note, ok, reasonOf } from './finding.ts'

const nodeMajorMin = 24
const freeBytesMin = 1024 ** 3

export function checkMachine(config: Config): Finding[] {
  return [
    checkNode(),
    ...checkDataDir(config.dataDir),
    checkDisk(config.dataDir),
    checkKeyring(config.dataDir),
    ...checkCertificates(config),
  ]
}

function checkNode(): Finding {
  const pinned = join(import.meta.dirname, '..', '..', '..', '..', '.node-version')
  const wanted = existsSync(pinned) ? readFileSync(pinned, 'utf8').trim() : null
  const found = process.versions.node
  if (Number.parseInt(found, 10) < nodeMajorMin)
    return attention(`Node ${found} is too old. Callsign needs ${wanted ?? nodeMajorMin} or newer.`)
  if (wanted !== null && found !== wanted) return note(`Callsign runs on Node ${found}. It is tested with ${wanted}.`)
  return ok(`Node ${found}.`)
}

function checkDataDir(path: string): Finding[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) {
    const above = nearestExisting(path)
    return [
      isWritable(above)
        ? note(`The data directory ${path} does not exist yet. The first start creates it.`)
        : attention(`The data directory ${path} does not exist, and this user may not create it in ${above}.`),
    ]
  }
  if (!stat.isDirectory()) return [attention(`${path} is not a directory. Set CALLSIGN_DATA_DIR to one.`)]
  const findings: Finding[] = []
  const us = process.getuid?.()
  if (us !== undefined && us !== 0 && stat.uid !== us)
    findings.push(
      attention(`The data directory ${path} belongs to user number ${stat.uid}, and you are ${us}. Run callsignd as its owner.`),
    )
  if ((stat.mode & 0o022) !== 0) findings.push(attention(`Other users may write to the data directory ${path}. Run: chmod go-w ${path}`))
  if (!isWritable(path)) findings.push(attention(`This user may not write to the data directory ${path}.`))
  return findings.length > 0 ? findings : [ok(`Only this user may write to the data directory ${path}.`)]
}

function checkDisk(path: string): Finding {
  const where = nearestExisting(path)
  const { bavail, bsize } = statfsSync(where)
  const freeBytes = bavail * bsize
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB`
  return freeBytes < freeBytesMin
    ? attention(`Only ${free} are free on the disk of ${where}. The database stops when it is full. Free or add space.`)
    : ok(`${free} are free on the disk of ${where}.`)
}

function checkKeyring(dataDir: string): Finding {
  const path = join(dataDir, 'keyring', 'master')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return note(`The keyring (${path}) does not exist yet. The first start creates it.`)
  if ((stat.mode & 0o077) !== 0) return attention(`Other users may open the keyring. Run: chmod 600 ${path}`)
  if (!canRead(path)) return attention(`This user may not read the keyring ${path}.`)
  return ok('The keyring is readable by its owner only.')
}

function checkCertificates(config: Config): Finding[] {
  const { acmeDirectory, smtpPort, smtpTlsCertFile } = config
  const findings = [
    ...(smtpPort === null ? [] : checkFiles('SMTP', 'CALLSIGN_SMTP_TLS', smtpTlsCertFile, config.smtpTlsKeyFile)),
    ...checkFiles('HTTPS', 'CALLSIGN_HTTPS_TLS', config.httpsCertFile, config.httpsKeyFile),
    ...checkFiles('tunnels', 'CALLSIGN_TUNNEL_TLS', config.tunnelTlsCertFile, config.tunnelTlsKeyFile),
  ]
  if (acmeDirectory !== null) findings.push(ok(`Certificates without files come from ${acmeDirectory}.`))
  else if (smtpPort !== null && !smtpTlsCertFile)
    findings.push(note('SMTP generates a certificate at each start, which is enough for opportunistic TLS.'))
  return findings
}

/** Checks the certificate in the files of two settings. No finding without them. */
function checkFiles(listener: string, prefix: string, certFile: string | null, keyFile: string | null): Finding[] {
  if (!certFile || !keyFile) return []
  const name = `The certificate of ${listener} (${prefix}_CERT_FILE)`
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    const key = createPrivateKey(readFileSync(keyFile))
    if (!certificate.checkPrivateKey(key)) return [attention(`${name} does not match the key in ${prefix}_KEY_FILE.`)]
    const leftDays = daysUntil(certificate.validToDate, nowMs())
    if (leftDays < 0) return [attention(`${name} expired on ${certificate.validTo}.`)]
    if (certificate.validFromDate.getTime() > nowMs()) return [attention(`${name} is not valid before ${certificate.validFrom}.`)]
    if (leftDays < expirySoonDays) return [attention(`${name} expires in ${leftDays} days, on ${certificate.validTo}.`)]
    return [ok(`${name} matches its key and is valid until ${certificate.validTo}.`)]
  } catch (error) {
    return [attention(`${name} or its key cannot be used: ${reasonOf(error)}.`)]
  }
}

export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

export const isWritable = (path: string): boolean => isAllowed(path, constants.W_OK)
const canRead = (path: string): boolean => isAllowed(path, constants.R_OK)

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
