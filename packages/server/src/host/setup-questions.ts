// The questions of `callsignd setup`, in their order, and the settings that the answers make.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDataDir } from '../config/file.ts'
import { domainName, integer, url } from '../config/values.ts'
import { isHandleShaped } from '../features/account/identities/model.ts'

export type Answers = Record<string, string>

export type Question = {
  /** Name of the flag, and of the line in a file of answers. */
  name: string
  text: string
  /** Answer when the operator gives none, or null when the question needs one. */
  fallback: (answers: Answers) => string | null
  /** Throws an Error with the rest of a sentence that begins with the name. */
  check: (answer: string) => unknown
  isAsked?: (answers: Answers) => boolean
}

const oneOf =
  (...words: string[]) =>
  (answer: string) => {
    if (!words.includes(answer)) throw new Error(`must be one of: ${words.join(', ')}`)
  }

const file = (answer: string) => {
  if (!existsSync(answer)) throw new Error(`must name a file that exists`)
}

const hasFiles = ({ certificates }: Answers) => certificates === 'files'
const hasAcme = ({ certificates }: Answers) => certificates === 'acme'
const hasHttps = (answers: Answers) => hasFiles(answers) || hasAcme(answers)

const emailAddress = (answer: string) => {
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(answer)) throw new Error('must be an email address')
}

const handle = (answer: string) => {
  if (!isHandleShaped(answer)) throw new Error('must be a handle of a-z, 0-9 and _')
}

export const questions: Question[] = [
  {
    name: 'domain',
    text: 'Domain of the mailboxes, such as agents.example.com',
    fallback: () => null,
    check: (answer) => {
      domainName(answer)
      if (!answer.includes('.')) throw new Error('must have a dot, as in agents.example.com')
    },
  },
  {
    name: 'certificates',
    text: "Certificates: acme (from Let's Encrypt, free), files (you have certificate files), or proxy (a TLS proxy such as Caddy stands in front)",
    fallback: () => 'acme',
    check: oneOf('acme', 'files', 'proxy'),
  },
  {
    name: 'acme-email',
    text: 'Your address, to which the authority writes. You accept its terms by going on',
    fallback: () => null,
    check: emailAddress,
    isAsked: hasAcme,
  },
  { name: 'cert-file', text: 'File with the certificate chain (PEM)', fallback: () => null, check: file, isAsked: hasFiles },
  { name: 'key-file', text: 'File with its private key (PEM)', fallback: () => null, check: file, isAsked: hasFiles },
  {
    name: 'public-url',
    text: 'Address of the API and the console',
    fallback: ({ domain }) => `https://${domain}`,
    check: url('http:', 'https:'),
  },
  { name: 'tunnel-domain', text: 'Domain of the tunnels', fallback: ({ domain }) => `tunnel.${domain}`, check: domainName },
  {
    name: 'delivery',
    text: 'Outgoing mail: direct (to the receivers, needs port 25 open), relay (through a provider), or simulator (recorded only)',
    fallback: () => 'direct',
    check: oneOf('direct', 'relay', 'simulator'),
  },
  {
    name: 'relay-url',
    text: 'Address of the relay, smtp://user:password@host:587',
    fallback: () => null,
    check: url('smtp:', 'smtps:'),
    isAsked: ({ delivery }) => delivery === 'relay',
  },
  { name: 'host', text: 'Address to listen on', fallback: () => '0.0.0.0', check: () => {} },
  { name: 'http-port', text: 'Port for HTTP', fallback: (answers) => (hasHttps(answers) ? '80' : '8080'), check: integer(1, 65535) },
  { name: 'https-port', text: 'Port for HTTPS', fallback: () => '443', check: integer(1, 65535), isAsked: hasHttps },
  { name: 'smtp-port', text: 'Port for incoming mail', fallback: () => '25', check: integer(1, 65535) },
  {
    name: 'postmaster',
    text: 'Agent that reads mail for postmaster@ and abuse@, which you create later',
    fallback: () => 'postmaster_agent',
    check: handle,
  },
  {
    name: 'submission',
    text: 'Let mail programs send as agents, on ports 587 and 465: on or off',
    fallback: () => 'off',
    check: oneOf('on', 'off'),
  },
  { name: 'data-dir', text: 'Folder for the data', fallback: () => readDataDir(), check: () => {} },
]

/** The settings of the answers, by their variables, in the order of the file. */
export function settingsOf(answers: Answers): [string, string][] {
  const of = (name: string): string => answers[name] ?? ''
  return [
    ['CALLSIGN_MAIL_DOMAIN', of('domain')],
    ['CALLSIGN_PUBLIC_URL', of('public-url')],
    ['CALLSIGN_TUNNEL_DOMAIN', of('tunnel-domain')],
    ['CALLSIGN_DATA_DIR', resolve(of('data-dir'))],
    ['CALLSIGN_HOST', of('host')],
    ['CALLSIGN_PORT', of('http-port')],
    ['CALLSIGN_SMTP_PORT', of('smtp-port')],
    ...((of('submission') === 'on'
      ? [
          ['CALLSIGN_SUBMISSION_PORT', '587'],
          ['CALLSIGN_SUBMISSIONS_PORT', '465'],
        ]
      : []) as [string, string][]),
    ['CALLSIGN_POSTMASTER', of('postmaster')],
    ['CALLSIGN_MAIL_TRANSPORT', of('delivery')],
    ...((of('delivery') === 'relay' ? [['CALLSIGN_SMTP_RELAY_URL', of('relay-url')]] : []) as [string, string][]),
    ...((hasHttps(answers)
      ? [
          ['CALLSIGN_HTTPS_PORT', of('https-port')],
          ['CALLSIGN_HTTP_REDIRECT', 'on'],
        ]
      : []) as [string, string][]),
    ...((hasAcme(answers)
      ? [
          ['CALLSIGN_ACME_DIRECTORY', 'letsencrypt'],
          ['CALLSIGN_ACME_EMAIL', of('acme-email')],
        ]
      : []) as [string, string][]),
    ...((hasFiles(answers)
      ? [
          ['CALLSIGN_HTTPS_TLS_CERT_FILE', resolve(of('cert-file'))],
          ['CALLSIGN_HTTPS_TLS_KEY_FILE', resolve(of('key-file'))],
          ['CALLSIGN_SMTP_TLS_CERT_FILE', resolve(of('cert-file'))],
          ['CALLSIGN_SMTP_TLS_KEY_FILE', resolve(of('key-file'))],
        ]
      : []) as [string, string][]),
  ]
}
