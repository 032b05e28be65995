// The doctor's checks of how other mail servers see this one: DNS records, reverse names, port 25, blocklists, MTA-STS and TLS reports.
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import { reverseName } from '@callsign/mail/dns'
import type { Config } from '../config/settings.ts'
import type { FetchedFile } from '../core/web.ts'
import type { DomainRecord } from '../features/mail/domains/model.ts'
import { judgeMx, judgeTxt } from '../features/mail/domains/own-records.ts'
import { matchesPolicy, policyBytesMax, readPolicy, readRecord } from '../features/mail/outbound/mta-sts/model.ts'
import { readBanner } from './doctor-network.ts'
import { attention, type Finding, note, ok, reasonOf } from './finding.ts'
import { addressNames, isMailDomainLocal, type KeyRecord, mailRecords } from './mail-records.ts'

export type MailChecks = {
  config: Config
  dns: Resolver
  /** The DKIM records of the mail domain, or null before the first start. */
  dkim: KeyRecord[] | null
  /** Fetches with a verified certificate. */
  fetchFile: (url: string, limits: { bytesMax: number; timeoutMs: number; redirectsMax: number }) => Promise<FetchedFile>
}

const fetchMs = 10_000
/** The purpose of a record that has a check of its own, because it is optional. */
const tlsReports = 'tls_rpt'

export async function checkMail(checks: MailChecks): Promise<Finding[]> {
  const { config, dns } = checks
  if (isMailDomainLocal(config))
    return [
      note(
        `The mail domain ${config.mailDomain} is for this machine only, so DNS and port 25 are not checked. callsignd setup asks for yours.`,
      ),
    ]
  const probe = await dns.mx(config.mailDomain)
  if (probe.kind === 'failure') return [unanswered(config.mailDomain, probe.reason)]
  const records = await checkRecords(checks)
  const addresses = await findAddresses(dns, config.mailDomain)
  const found = await Promise.all([
    checkAddressNames(config, dns),
    ...addresses.map((address) => checkReverseName(config, dns, address)),
    ...addresses.map((address) => checkIncoming(config, address)),
    config.mailTransport === 'direct' ? checkOutgoing(config, dns) : [],
    config.mailTransport === 'direct' ? checkBlocklists(config, dns, addresses) : [],
    checkMtaSts(checks),
    checkTlsReports(config, dns),
  ])
  return [...records, ...found.flat()]
}

async function checkRecords({ config, dns, dkim }: MailChecks): Promise<Finding[]> {
  const keys = dkim ?? []
  const records = mailRecords(config, keys).filter(({ purpose }) => purpose !== tlsReports)
  const findings = await Promise.all(
    records.map(async (record) => {
      const about = `${record.type} record of ${record.name}`
      const publish = `Publish: ${record.name}. IN ${record.type} ${record.type === 'MX' ? `${record.priority} ${record.value}.` : `"${record.value}"`}`
      const answer = await (record.type === 'MX' ? dns.mx(record.name) : dns.txt(record.name))
      if (answer.kind === 'failure') return unanswered(`the ${about}`, answer.reason)
      const judged =
        record.type === 'MX' ? judgeMx(record, answer as Parameters<typeof judgeMx>[1]) : judgeTxt(record, answer as DnsAnswer<string>)
      return judged.status === 'valid' ? ok(`${about} is right.`) : attention(`${about}: ${judged.note}. ${publish}`)
    }),
  )
  if (dkim === null) findings.push(note('There are no DKIM keys yet. callsignd dkim makes them, and prints their records.'))
  return findings
}

const unanswered = (what: string, reason: string): Finding =>
  attention(`DNS does not answer for ${what} (${reason}). Check the resolver (CALLSIGN_DNS_SERVERS).`)

async function findAddresses(dns: Resolver, name: string): Promise<string[]> {
  const answers = await Promise.all([dns.a(name), dns.aaaa(name)])
  return answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []))
}

async function checkAddressNames(config: Config, dns: Resolver): Promise<Finding[]> {
  return Promise.all(
    addressNames(config).map(async ({ name, purpose }) => {
      const addresses = await findAddresses(dns, name.replace('*', 'any'))
      return addresses.length > 0
        ? ok(`${name} (${purpose}) leads to ${addresses.join(' and ')}.`)
        : attention(`${name} (${purpose}) has no address. Publish an A record with the public address of this server.`)
    }),
  )
}

/** Large providers refuse mail from an address without a reverse name that leads back to it. */
async function checkReverseName({ mailDomain, mailTransport }: Config, dns: Resolver, address: string): Promise<Finding[]> {
  const raise = mailTransport === 'direct' ? attention : note
  const answer = await dns.ptr(address)
  if (answer.kind === 'failure') return [unanswered(`the reverse name of ${address}`, answer.reason)]
  if (answer.kind !== 'found')
    return [raise(`${address} has no reverse name (PTR). Set it to ${mailDomain} in the panel of your hosting provider.`)]
  for (const name of answer.records)
    if ((await findAddresses(dns, name)).includes(address))
      return [ok(`The reverse name of ${address} is ${name}, which leads back to it.`)]
  return [
    raise(
      `The reverse name of ${address} is ${answer.records[0]}, which does not lead back to it. Set it to ${mailDomain} in the panel of your hosting provider.`,
    ),
  ]
}

async function checkIncoming({ mailDomain, directPort }: Config, address: string): Promise<Finding[]> {
  const where = `Port ${directPort} of ${address}`
  try {
    const banner = await readBanner(address, directPort)
    if (banner.startsWith(`220 ${mailDomain} `)) return [ok(`${where} is open for incoming mail.`)]
    return [
      attention(
        `${where} is answered by another program: ${banner.trim().slice(0, 100)}. Stop it, and set CALLSIGN_SMTP_PORT=${directPort}.`,
      ),
    ]
  } catch (error) {
    return [
      attention(
        `${where} cannot be reached from here: ${reasonOf(error)}. Start the server with CALLSIGN_SMTP_PORT=${directPort} and CALLSIGN_HOST=0.0.0.0, and open the port in the firewall. Some networks do not reach their own public address: then check from another machine.`,
      ),
    ]
  }
}

async function checkOutgoing({ doctorMailDomain, directPort }: Config, dns: Resolver): Promise<Finding[]> {
  const remedy = 'Ask your hosting provider to open port 25 for outgoing mail, or use a relay (CALLSIGN_MAIL_TRANSPORT=relay).'
  const answer = await dns.mx(doctorMailDomain)
  const [best] = answer.kind === 'found' ? answer.records.toSorted((one, other) => one.preference - other.preference) : []
  const [address] = best ? await findAddresses(dns, best.exchange) : []
  if (!best || address === undefined)
    return [
      note(
        `Outgoing mail was not checked, because ${doctorMailDomain} has no mail server. Set CALLSIGN_DOCTOR_MAIL_DOMAIN to another domain.`,
      ),
    ]
  try {
    const banner = await readBanner(address, directPort)
    return banner.startsWith('220')
      ? [ok(`Port ${directPort} is open for outgoing mail: ${best.exchange} answers.`)]
      : [attention(`${best.exchange} refuses this server: ${banner.trim().slice(0, 100)}. Check the blocklists below.`)]
  } catch (error) {
    return [attention(`Port ${directPort} of ${best.exchange} cannot be reached: ${reasonOf(error)}. ${remedy}`)]
  }
}

/** Lists answer with an address in 127.0.0.0/8 for a listed address. 127.0.0.2 is always listed (RFC 5782 §5), which shows that a list answers. */
async function checkBlocklists({ doctorBlocklists }: Config, dns: Resolver, addresses: string[]): Promise<Finding[]> {
  return (await Promise.all(doctorBlocklists.map((zone) => checkBlocklist(zone, dns, addresses)))).flat()
}

async function checkBlocklist(zone: string, dns: Resolver, addresses: string[]): Promise<Finding[]> {
  const ask = async (address: string): Promise<boolean> => {
    const answer = await dns.a(`${(reverseName(address) as string).replace(/\.(in-addr|ip6)\.arpa$/, '')}.${zone}`)
    // 127.255.255.0/24 is Spamhaus' way to refuse a resolver.
    return answer.kind === 'found' && answer.records.some((one) => one.startsWith('127.') && !one.startsWith('127.255.255.'))
  }
  if (!(await ask('127.0.0.2')))
    return [
      note(
        `The blocklist ${zone} does not answer this resolver. Several lists refuse public resolvers such as 8.8.8.8: run a resolver of your own, and set CALLSIGN_DNS_SERVERS.`,
      ),
    ]
  const listed: string[] = []
  for (const address of addresses) if (await ask(address)) listed.push(address)
  return listed.length === 0
    ? [ok(`The blocklist ${zone} does not list this server.`)]
    : [attention(`The blocklist ${zone} lists ${listed.join(' and ')}. Read the reason on its site, end the cause, and ask for removal.`)]
}

/** A policy that does not fit the MX record makes other servers hold back their mail. */
async function checkMtaSts({ config: { mailDomain }, dns, fetchFile }: MailChecks): Promise<Finding[]> {
  const answer = await dns.txt(`_mta-sts.${mailDomain}`)
  if (answer.kind === 'failure') return [unanswered(`_mta-sts.${mailDomain}`, answer.reason)]
  if (answer.kind !== 'found' || readRecord(answer.records) === null)
    return [note(`${mailDomain} has no MTA-STS policy, so senders may fall back to plain text. It is optional: see RFC 8461.`)]
  const url = `https://mta-sts.${mailDomain}/.well-known/mta-sts.txt`
  const fix = `Correct the file, or remove the record _mta-sts.${mailDomain}.`
  try {
    const { bytes } = await fetchFile(url, { bytesMax: policyBytesMax, timeoutMs: fetchMs, redirectsMax: 0 })
    const policy = readPolicy(bytes.toString('utf8'))
    if (!policy) return [attention(`The MTA-STS policy at ${url} is not valid. ${fix}`)]
    if (policy.mode !== 'none' && !matchesPolicy(policy, mailDomain))
      return [attention(`The MTA-STS policy at ${url} does not name the mail server ${mailDomain}. ${fix}`)]
    return [ok(`The MTA-STS policy is valid, mode ${policy.mode}.`)]
  } catch (error) {
    return [attention(`The MTA-STS policy at ${url} cannot be fetched: ${reasonOf(error)}. ${fix}`)]
  }
}

async function checkTlsReports(config: Config, dns: Resolver): Promise<Finding[]> {
  const { name, value } = mailRecords(config, []).find(({ purpose }) => purpose === tlsReports) as DomainRecord
  const answer = await dns.txt(name)
  const records = answer.kind === 'found' ? answer.records.filter((text) => /^v=TLSRPTv1\s*;/.test(text)) : []
  const address = /rua=([^;]+)/.exec(records[0] ?? '')?.[1]?.trim()
  if (records.length === 1 && address === undefined)
    return [attention(`${name} has no address for reports. Publish: ${name}. IN TXT "${value}"`)]
  if (records.length === 1) return [ok(`TLS reports go to ${address}.`)]
  if (records.length > 1) return [attention(`${name} has ${records.length} TLS-RPT records, which senders take for none. Leave one.`)]
  return [note(`No TLS reports are requested. Publish: ${name}. IN TXT "${value}"`)]
}
