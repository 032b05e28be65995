// domains list|add|show|verify|default|rm|zone-file. The argument is the name or the id of a domain.
import type { Callsign, DnsRecord, Domain } from '@callsign/sdk'
import { type Command, clientIdOption, oneOf, readClientId } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'

const providers = ['builtin', 'resend'] as const

/** Returns the id of a domain given by name or id. An unknown id is left to the server to reject. */
export async function domainIdOf(client: Callsign, reference: string): Promise<string> {
  if (reference.startsWith('dom_')) return reference
  const found = (await client.domains.list()).data.find((one) => one.domain === reference.toLowerCase())
  if (!found) throw new UsageError(`The domain ${reference} is not registered. Run callsign domains list for the registered ones.`)
  return found.id
}

const recordTable = (records: DnsRecord[]): string =>
  table(
    ['TYPE', 'NAME', 'PRIORITY', 'STATUS', 'FOR', 'VALUE'],
    records.map((one) => [
      one.type,
      one.name,
      one.priority === undefined ? '' : String(one.priority),
      one.status,
      one.required ? one.purpose : `${one.purpose}, recommended`,
      one.value,
    ]),
  )

/** Special-use names (RFC 6761, RFC 6762, RFC 8375, ICANN .internal), which other mail servers cannot resolve. */
const localNames = ['localhost', 'local', 'test', 'example', 'invalid', 'internal', 'home.arpa', 'localdomain', 'lan']

/** A warning when the MX record names a host that only this network knows, otherwise null. */
function localMailHost({ dns_records }: Domain): string | null {
  const host = dns_records
    .find(({ type }) => type === 'MX')
    ?.value.toLowerCase()
    .replace(/\.$/, '')
  const isLocal = host !== undefined && (!host.includes('.') || localNames.some((name) => host.endsWith(`.${name}`)))
  return isLocal
    ? `Warning: the MX record names ${host}, which other mail servers cannot find. Set CALLSIGN_MAIL_DOMAIN on the server to a public name of yours before you publish these records.`
    : null
}

const shown = (domain: Domain): string =>
  [
    `domain    ${domain.domain}`,
    `id        ${domain.id}`,
    `status    ${domain.status}${domain.failing_since ? `, records wrong since ${domain.failing_since}` : ''}`,
    `default   ${domain.is_default ? 'yes' : 'no'}`,
    `provider  ${domain.provider}`,
    '',
    recordTable(domain.dns_records),
  ].join('\n')

export const domainCommands: Command[] = [
  {
    words: 'domains list',
    about: 'Lists custom domains, newest first.',
    example: 'callsign domains list',
    operations: ['listDomains'],
    async run({ client, output }) {
      const { data: domains } = await (await client()).domains.list()
      output.result({ data: domains }, (width) =>
        table(
          ['DOMAIN', 'STATUS', 'DEFAULT', 'MAILBOXES', 'PROVIDER', 'ID'],
          domains.map((one) => [one.domain, one.status, one.is_default ? 'yes' : '', String(one.mailboxes_count), one.provider, one.id]),
          width,
        ),
      )
      return 0
    },
  },
  {
    words: 'domains add',
    takes: 'NAME',
    about: 'Registers a domain and prints the DNS records to publish.',
    example: 'callsign domains add mail.example.com',
    operations: ['createDomain'],
    options: {
      provider: {
        type: 'string',
        value: 'PROVIDER',
        choices: providers,
        about: 'builtin or resend. Defaults to the setting of the server.',
      },
      ...clientIdOption,
    },
    async run({ client, output }, values, [name = '']) {
      const provider = oneOf(values, 'provider', providers)
      const domain = await (await client()).domains.create({ domain: name, ...(provider && { provider }), ...readClientId(values) })
      output.result(domain, () => shown(domain))
      if (!output.isJson && domain.status !== 'verified')
        output.note(localMailHost(domain) ?? `Publish these records, then run callsign domains verify ${domain.domain}`)
      return 0
    },
  },
  {
    words: 'domains show',
    takes: 'DOMAIN',
    about: 'Shows a domain and its DNS records, with the result of the last check.',
    example: 'callsign domains show mail.example.com',
    operations: ['getDomain'],
    async run({ client, output }, _values, [reference = '']) {
      const callsign = await client()
      const domain = await callsign.domains.get(await domainIdOf(callsign, reference))
      output.result(domain, () => shown(domain))
      return 0
    },
  },
  {
    words: 'domains verify',
    takes: 'DOMAIN',
    about: 'Checks whether the records are published. The exit code is 1 if any are missing.',
    example: 'callsign domains verify mail.example.com',
    operations: ['verifyDomain'],
    async run({ client, output }, _values, [reference = '']) {
      const callsign = await client()
      const { domain, message } = await callsign.domains.verify(await domainIdOf(callsign, reference))
      output.result({ data: domain, message }, () => `${recordTable(domain.dns_records)}\n\n${message}`)
      return domain.status === 'verified' ? 0 : 1
    },
  },
  {
    words: 'domains default',
    takes: 'DOMAIN',
    about: 'Makes a verified domain the default for new identities.',
    example: 'callsign domains default mail.example.com',
    operations: ['setDefaultDomain'],
    async run({ client, output }, _values, [reference = '']) {
      const callsign = await client()
      const domain = await callsign.domains.setDefault(await domainIdOf(callsign, reference))
      output.result(domain, () => `New identities have their mailboxes at ${domain.domain}.`)
      return 0
    },
  },
  {
    words: 'domains rm',
    takes: 'DOMAIN',
    about: 'Deletes a domain, here and at its provider.',
    example: 'callsign domains rm mail.example.com --force',
    operations: ['deleteDomain'],
    options: { force: { type: 'boolean', about: 'Delete it even if mailboxes use it. They move to the mail domain.' } },
    async run({ client, output }, values, [reference = '']) {
      const callsign = await client()
      const deleted = await callsign.domains.delete(await domainIdOf(callsign, reference), values.force === true ? { force: true } : {})
      output.result(deleted, () => deleted.message)
      return 0
    },
  },
  {
    words: 'domains zone-file',
    takes: 'DOMAIN',
    about: 'Prints the records as a zone file that you can import at a DNS host.',
    example: 'callsign domains zone-file mail.example.com > mail.example.com.zone',
    operations: ['getZoneFile'],
    async run({ client, output }, _values, [reference = '']) {
      const callsign = await client()
      const zone = await callsign.domains.zoneFile(await domainIdOf(callsign, reference))
      output.result({ zone_file: zone }, () => zone)
      return 0
    },
  },
]
