// The reference of domains, mail rules and the suppression list.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const domain = sampleId('domain')
const rule = sampleId('mailRule')

export const mailSettingsDetails: Record<string, OperationDetails> = {
  createDomain: {
    description:
      'Registers a domain and returns the DNS records to publish in `dns_records`. Publish them at your DNS host, then verify the domain. The first domain becomes the default for new identities. `409 domain_exists` means that this or another organization of the server has the domain.',
    keys: 'organization',
    body: { domain: 'mail.example.com' },
    sdk: 'const domain = await callsign.domains.create($body)',
    cli: 'callsign domains add mail.example.com',
  },
  listDomains: {
    description: 'Returns every domain with the number of its mailboxes, newest first.',
    keys: 'organization',
    sdk: 'const { data: domains } = await callsign.domains.list()',
    cli: 'callsign domains list',
  },
  getDomain: {
    description: 'Returns one domain with the last check of each record. `failing_since` is set while a verified domain has wrong records.',
    keys: 'organization',
    sdk: 'const domain = await callsign.domains.get($domain_id)',
    cli: `callsign domains show ${domain}`,
  },
  verifyDomain: {
    description:
      'Looks up the records now. If the required ones are published, the domain is `verified`. Otherwise `message` names each missing or wrong record. DNS changes can take minutes to reach every server, so repeat the request. `500 verification_failed` means that the lookup itself failed and nothing has changed.',
    keys: 'organization',
    reply: { message: 'The domain is verified.' },
    sdk: 'const { domain, message } = await callsign.domains.verify($domain_id)',
    cli: `callsign domains verify ${domain}`,
  },
  listDomainReports: {
    description:
      'Returns one page of the reports about a domain, newest first, with their largest sources. Other mail servers send them to the addresses in the recommended `dmarc` and `tls_rpt` records. A report is accepted only if DMARC confirms the domain in its From field, and only if it is about this domain or one below it. A report that is sent twice is listed once. Reports are kept for 400 days.',
    keys: 'organization',
    query: { kind: 'dmarc' },
    reply: {
      data: [
        {
          id: sampleId('domainReport'),
          kind: 'dmarc',
          reporter: 'google.com',
          report_id: '7340129083',
          starts_at: '2026-03-01T00:00:00.000Z',
          ends_at: '2026-03-01T23:59:59.000Z',
          passed: 120,
          failed: 3,
          sources: [
            {
              source: '203.0.113.7',
              count: 120,
              is_passed: true,
              disposition: 'none',
              detail: 'DKIM pass, SPF pass, From mail.example.com',
            },
          ],
          created_at: '2026-03-02T09:30:00.000Z',
        },
      ],
    },
    sdk: 'const page = await callsign.domains.listReports($domain_id, $query)',
    cli: `callsign domains reports ${domain}`,
  },
  setDefaultDomain: {
    description: 'Makes a verified domain the default. New identities get their mailbox there. Existing mailboxes stay where they are.',
    keys: 'organization',
    reply: { is_default: true },
    sdk: 'const domain = await callsign.domains.setDefault($domain_id)',
    cli: `callsign domains default ${domain}`,
  },
  deleteDomain: {
    description:
      'Deletes a domain here and at its provider. `409 domain_in_use` means that mailboxes use it. With `force`, they move to the mail domain of the server, and mail to their old addresses is refused.',
    keys: 'organization',
    query: { force: true },
    reply: { message: 'The domain is deleted.' },
    sdk: 'await callsign.domains.delete($domain_id, $query)',
    cli: `callsign domains rm ${domain} --force`,
  },
  getZoneFile: {
    description: 'Returns the records of a domain as a zone file (RFC 1035). Most DNS hosts can import it.',
    keys: 'organization',
    sdk: 'const zone = await callsign.domains.zoneFile($domain_id)',
    cli: `callsign domains zone-file ${domain}`,
  },
  createMailRule: {
    description:
      'Adds a rule for an address, or for a domain with its subdomains. A rule for an address has precedence over a rule for its domain. Blocked mail to the agent goes to quarantine. Blocked mail of the agent is rejected with `403 recipient_not_allowed`. An entry can have one rule in each direction. `*` in place of the handle adds a rule of every agent, and the own rule of an agent for the same entry has precedence over it.',
    keys: 'organization',
    body: { direction: 'inbound', action: 'block', entry: 'newsletter.example', reason: 'Only advertising.' },
    reply: { direction: 'inbound', action: 'block', entry: 'newsletter.example', entry_type: 'domain', reason: 'Only advertising.' },
    sdk: 'const rule = await callsign.mailRules.create($handle, $body)',
    cli: 'callsign rules add sales --block newsletter.example --direction inbound --reason "Only advertising."',
  },
  listMailRules: {
    description: 'Returns the rules of an agent, newest first. The agent can read them with its own key, to find out why mail was held.',
    query: { direction: 'inbound', limit: 20 },
    sdk: 'const page = await callsign.mailRules.list($handle, $query)',
    cli: 'callsign rules list sales',
  },
  getMailRule: {
    description: 'Returns one rule of an agent.',
    sdk: 'const rule = await callsign.mailRules.get($handle, $rule_id)',
  },
  updateMailRule: {
    description:
      'Changes a rule. A rule with the status `paused` has no effect until it is `active` again. Earlier decisions do not change.',
    keys: 'organization',
    body: { status: 'paused' },
    reply: { status: 'paused' },
    sdk: 'const rule = await callsign.mailRules.update($handle, $rule_id, $body)',
    cli: 'callsign rules pause sales spam.example',
  },
  deleteMailRule: {
    description: 'Deletes a rule. Messages keep the decisions that it made.',
    keys: 'organization',
    sdk: 'await callsign.mailRules.delete($handle, $rule_id)',
    cli: `callsign rules rm sales ${rule}`,
  },
  createSuppression: {
    description:
      'Adds an address to which no agent of the organization sends from then on. Sending to it is rejected with `403 recipient_suppressed`. Hard bounces and complaints add addresses by themselves.',
    keys: 'organization',
    body: { email_address: 'ada@example.com', reason: 'Asked to be removed.' },
    reply: { email_address: 'ada@example.com', source: 'manual', reason: 'Asked to be removed.', message_id: null },
    sdk: 'const suppression = await callsign.suppressions.create($body)',
    cli: 'callsign suppressions add ada@example.com --reason "Asked to be removed."',
  },
  listSuppressions: {
    description: 'Returns suppressed addresses, newest first, each with the bounce or complaint that caused it.',
    keys: 'organization',
    query: { source: 'bounce', limit: 20 },
    sdk: 'const page = await callsign.suppressions.list($query)',
    cli: 'callsign suppressions list',
  },
  deleteSuppression: {
    description:
      'Removes an address from the list. Remove one only if you know that it works again, because repeated bounces harm your reputation.',
    keys: 'organization',
    params: { email_address: 'ada@example.com' },
    reply: { id: sampleId('suppression') },
    sdk: 'await callsign.suppressions.delete($email_address)',
    cli: 'callsign suppressions rm ada@example.com',
  },
}
