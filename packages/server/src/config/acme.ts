// Settings of the certificates that an authority issues over ACME (RFC 8555).
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { area, setting } from './setting.ts'
import { decimal, domainName, integer, oneOf, secondsList } from './values.ts'

/** Directories of authorities, by the names that the setting accepts. */
const directories: Record<string, string> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
}

export const acme = area({
  title: 'Certificates over ACME',
  settings: {
    acmeDirectory: setting({
      name: 'CALLSIGN_ACME_DIRECTORY',
      fallback: null,
      shown: '(off)',
      sentence:
        'Authority that issues certificates: `letsencrypt`, `letsencrypt-staging`, or the https URL of an ACME directory. Setting it accepts the terms of that authority.',
      read: (text) => {
        const url = directories[text] ?? text
        if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
          throw new Error(`must be ${Object.keys(directories).join(', ')} or an https:// URL`)
        return url
      },
    }),
    acmeEmail: setting({
      name: 'CALLSIGN_ACME_EMAIL',
      fallback: null,
      sentence: 'Address that the authority writes to when something is wrong with a certificate.',
      read: (text) => {
        if (!/^[^\s@<>]+@[^\s@<>]+$/.test(text)) throw new Error('must be an email address')
        return text
      },
    }),
    acmeNames: setting({
      name: 'CALLSIGN_ACME_NAMES',
      fallback: '',
      shown: '(none)',
      sentence:
        'Further names to get certificates for, as a comma list. The names of CALLSIGN_PUBLIC_URL, CALLSIGN_MAIL_DOMAIN and CALLSIGN_TUNNEL_CONNECT_URL are known already.',
      read: (text) => text.split(',').flatMap((part) => (part.trim() ? [certificateName(part.trim())] : [])),
    }),
    acmeDnsHook: setting({
      name: 'CALLSIGN_ACME_DNS_HOOK',
      fallback: null,
      sentence:
        'Program that publishes and removes TXT records for DNS-01, which wildcard names need. It is run as `PROGRAM add|remove NAME VALUE`, and ends when the record can be looked up.',
      read: (text) => resolve(text),
    }),
    acmeChallenge: setting({
      name: 'CALLSIGN_ACME_CHALLENGE',
      fallback: 'http-01',
      sentence:
        'Proof of control over names without a wildcard. `http-01` needs port 80 of each name to reach CALLSIGN_PORT, `dns-01` needs CALLSIGN_ACME_DNS_HOOK.',
      read: oneOf('http-01', 'dns-01'),
    }),
    acmeEabKeyId: setting({
      name: 'CALLSIGN_ACME_EAB_KEY_ID',
      fallback: null,
      sentence: 'Id of the key for external account binding, for authorities that require an account of theirs.',
      read: (text) => text,
    }),
    acmeEabKey: setting({
      name: 'CALLSIGN_ACME_EAB_KEY',
      fallback: null,
      sentence: 'That key in base64url.',
      secret: true,
      read: (text) => {
        if (!/^[A-Za-z0-9_+/-]{16,}={0,2}$/.test(text)) throw new Error('must be base64url')
        return text
      },
    }),
    acmeCaFile: setting({
      name: 'CALLSIGN_ACME_CA_FILE',
      fallback: null,
      sentence: 'PEM root certificates to trust at the directory in addition to the public ones, for an authority of your own.',
      read: (text) => resolve(text),
    }),
    acmeOrdersPerDay: setting({
      name: 'CALLSIGN_ACME_ORDERS_PER_DAY',
      fallback: '10',
      sentence: 'Orders per name and day (UTC).',
      read: integer(1, 1000),
    }),
    acmeRetrySeconds: setting({
      name: 'CALLSIGN_ACME_RETRY_SECONDS',
      fallback: '300,1800,7200,21600,86400',
      shown: '5 m, 30 m, 2 h, 6 h, then every 24 h',
      sentence: 'Delays in seconds after failed orders of a name. The last one repeats. A longer Retry-After of the authority comes first.',
      read: secondsList,
    }),
    acmeCheckSeconds: setting({
      name: 'CALLSIGN_ACME_CHECK_SECONDS',
      fallback: '60',
      sentence: 'Seconds between checks for certificates that are due, or that another process has renewed.',
      read: decimal(0.05, 3600),
    }),
  },
  check({ acmeDnsHook, acmeChallenge, acmeNames, acmeEabKeyId, acmeEabKey }) {
    if (acmeDnsHook === null && (acmeChallenge === 'dns-01' || acmeNames.some((name) => name.startsWith('*.'))))
      return 'DNS-01 needs CALLSIGN_ACME_DNS_HOOK, also for wildcards in CALLSIGN_ACME_NAMES'
    if (!acmeEabKeyId !== !acmeEabKey) return 'CALLSIGN_ACME_EAB_KEY_ID and CALLSIGN_ACME_EAB_KEY go together'
    return null
  },
})

/** A domain name with at least one dot, also as `*.` and the name. */
function certificateName(text: string): string {
  const name = domainName(text.replace(/^\*\./, ''))
  if (isIP(name) !== 0 || !name.includes('.')) throw new Error('must be a comma list of domain names such as mail.example.com')
  return text
}
