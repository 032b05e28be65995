// Builds the certificates that an authority issues over ACME: their names, and the parts that order and renew them.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { BadSetting, type Config } from '../config/settings.ts'
import { type Certificate, generateCertificate } from '../core/certificate.ts'
import type { CertificateSource } from '../core/certificate-source.ts'
import type { IssuedCertificates } from '../core/issued-certificates.ts'
import type { Log } from '../core/log.ts'
import { createAuthority, newAccountKey } from '../edges/acme/authority.ts'
import { createRenewals, type Renewals } from '../edges/acme/renewals.ts'
import { challengeRoute, dnsSolver, httpSolver, mountChallenges } from '../edges/acme/solvers.ts'
import type { Pages } from '../edges/api/pages.ts'
import { createIssuedCertificates } from '../edges/postgres/certificates.ts'
import { type SharedParts, sealingOf } from './parts.ts'

export type Acme = {
  renewals: Renewals
  names: string[]
  /** The certificates of a listener, with the one of `name` for clients that ask for an unknown name. */
  sourceFor(name: string): CertificateSource
  pages: Pages[]
}

/** Null when no authority is set. */
export function createAcme({ config, db, keyring, businessEvents, userAgent }: SharedParts, log: Log): Acme | null {
  const { acmeDirectory: directoryUrl, acmeDnsHook, acmeChallenge } = config
  if (directoryUrl === null) return null
  const store = createIssuedCertificates(db, sealingOf(keyring.subkey('certificates')))
  const overDns = acmeDnsHook === null ? null : dnsSolver(acmeDnsHook)
  const overHttp = httpSolver(store)
  const roots = readRoots(config.acmeCaFile)
  const { acmeEabKeyId: kid, acmeEabKey: hmacKey } = config
  const names = certificateNames(config)
  const renewals = createRenewals({
    store,
    names,
    directoryUrl,
    newAccountKey,
    openAuthority: (account) =>
      createAuthority({
        ...account,
        directoryUrl,
        email: config.acmeEmail,
        externalAccount: kid && hmacKey ? { kid, hmacKey } : null,
        roots,
        userAgent,
      }),
    solverFor: (name) => (overDns && (name.startsWith('*.') || acmeChallenge === 'dns-01') ? overDns : overHttp),
    ordersPerDay: config.acmeOrdersPerDay,
    retrySeconds: config.acmeRetrySeconds,
    checkMs: config.acmeCheckSeconds * 1000,
    isOrdering: config.roles.includes('worker'),
    businessEvents,
    log,
  })
  return { renewals, names, sourceFor: (name) => createIssuedSource(renewals, name), pages: challengePages(store) }
}

/**
 * The names to get certificates for. Only settings name them. Domains and handles that people choose are not among them, because an order
 * for them would spend the limits of this installation.
 */
export function certificateNames(config: Config): string[] {
  const { httpsPort, httpsCertFile, tunnelHttpsPort, tunnelTlsCertFile, smtpTlsCertFile, publicUrl, tunnelConnectUrl } = config
  const names = new Set(config.acmeNames)
  const add = (name: string) => {
    if (isPublicName(name)) names.add(name)
  }
  if (httpsPort !== null && !httpsCertFile) add(new URL(publicUrl as string).hostname)
  const mailPorts = [config.smtpPort, config.submissionPort, config.submissionsPort]
  if (!smtpTlsCertFile && mailPorts.some((port) => port !== null)) add(config.mailDomain)
  const hasTunnelPort = tunnelHttpsPort !== null || (httpsPort !== null && !httpsCertFile)
  if (hasTunnelPort && !tunnelTlsCertFile && config.acmeDnsHook !== null) {
    add(`*.${config.tunnelDomain}`)
    if (tunnelConnectUrl?.startsWith('https:')) add(new URL(tunnelConnectUrl).hostname)
  }
  return [...names]
}

/** False for addresses, and for names that only this machine knows. */
const isPublicName = (name: string): boolean =>
  isIP(name) === 0 && name.includes('.') && !name.startsWith('[') && !/(^|\.)localhost$/.test(name)

function readRoots(file: string | null): string | null {
  if (file === null) return null
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new BadSetting(`CALLSIGN_ACME_CA_FILE cannot be read: ${(error as Error).message}`)
  }
}

/** A generated certificate stands in until the first one is issued, so that the listener can open. */
function createIssuedSource(renewals: Renewals, name: string): CertificateSource {
  let generated: Certificate | null = null
  const wildcardOf = (servername: string): string => `*${servername.slice(servername.indexOf('.'))}`
  return {
    find(servername) {
      const found = servername === undefined ? null : (renewals.find(servername) ?? renewals.find(wildcardOf(servername)))
      const issued = found ?? renewals.find(name)
      if (issued) return issued
      generated ??= generateCertificate(name)
      return generated
    },
    onChange: renewals.onChange,
  }
}

/** Every process with an HTTP port answers, whichever its roles are. */
const challengePages = (store: IssuedCertificates): Pages[] => [
  { paths: [{ method: 'GET', path: challengeRoute }], mount: (app) => mountChallenges(app, store) },
]
