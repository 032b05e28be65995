// The reference of identities, mailboxes, keys and the caller.
import { scopePresets } from '../../scopes.ts'
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

export const accountDetails: Record<string, OperationDetails> = {
  getCaller: {
    description:
      'Returns the owner of the key. Use it to test a key, and to check if it is limited to one agent. `role` is `agent` for an agent key. `key.scopes` lists its scopes, and is empty for the default of its type.',
    sdk: 'const caller = await callsign.me()',
    cli: 'callsign whoami',
  },
  getOrganization: {
    description:
      'Returns the organization. `sending_limits` are the limits in force for all its mail together, and `key_sending_limits` those of each key. While `paused_at` is set, messages are accepted with status `queued` and held.',
    keys: 'organization',
    sdk: 'const organization = await callsign.organization.get()',
    cli: 'callsign organization show',
  },
  updateOrganization: {
    description:
      'Changes the given limits. `null` returns a limit to the default of the server. A send above a limit is `429 sending_limit_reached` with `Retry-After`, and `details` names the limit and the remainder. Limits of one agent are `sending_limits` of its identity. `storage_quota_bytes` limits stored mail, and `retention` sets the days after which data is deleted. Preview a retention with `GET /retention/preview` first.',
    keys: 'organization',
    body: { sending_limits: { messages_per_hour: 500, new_recipients_per_day: 100 } },
    sdk: 'const organization = await callsign.organization.update($body)',
    cli: 'callsign organization limits --messages-per-hour 500 --new-recipients-per-day 100',
  },
  pauseOrganization: {
    description:
      'Stops all sending of all agents, for example because one of them does damage. Messages that wait for a further attempt are held too. An attempt that a server is already receiving ends normally. Further messages are accepted with status `queued`. The pause and its reason are in the audit log.',
    keys: 'organization',
    body: { reason: 'An agent writes to the wrong people.' },
    sdk: 'const organization = await callsign.organization.pause($body)',
    cli: 'callsign organization pause --reason "An agent writes to the wrong people."',
  },
  resumeOrganization: {
    description: 'Ends the pause and starts the delivery of everything that was held, each message once.',
    keys: 'organization',
    sdk: 'const organization = await callsign.organization.resume()',
    cli: 'callsign organization resume',
  },
  listAudit: {
    description:
      'Returns audit entries. Every change to identities, keys, domains, webhooks, rules and the vault is an entry, with the key that made it and the request id. Entries never contain secrets or the text of messages.',
    keys: 'organization',
    query: { limit: 20 },
    sdk: 'const page = await callsign.audit.list($query)',
    cli: 'callsign audit list --limit 20',
  },
  createIdentity: {
    description:
      'Creates an agent with a mailbox and a tunnel. Its address is the handle at the default domain, or `local_part` at the domain that you name with `domain` or `custom_domain_id`. A handle is permanent: it cannot be changed, and it stays reserved after deletion. `409 handle_already_taken` means that another identity has, or had, this handle. Reserved names such as `postmaster` are rejected with 400.',
    keys: 'organization',
    body: { agent_handle: 'sales', display_name: 'Sales Agent', description: 'Answers questions about orders.' },
    sdk: 'const identity = await callsign.identities.create($body)',
    cli: 'callsign identities create sales --name "Sales Agent"',
  },
  listIdentities: {
    description:
      'Returns one page of identities, newest first. An agent key gets a list with its own identity. `metadata=key:value` selects by a key of the metadata.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.identities.list($query)',
    cli: 'callsign identities list --limit 20',
  },
  getIdentity: {
    description: 'Returns one identity with the address of its mailbox and the URL of its tunnel. Name it by its handle or its id.',
    sdk: 'const identity = await callsign.identities.get($handle)',
    cli: 'callsign identities show sales',
  },
  updateIdentity: {
    description:
      'Changes the given fields and keeps the others. With `draft_approval: required`, the key of the agent can only write drafts, which a person or a program with an organization key sends. With `inbound_mode` or `outbound_mode` set to `allowlist`, the agent exchanges mail only with addresses that a mail rule allows. `outbound_guard` searches outgoing mail for secrets and flags the message or holds it for approval. `sending_limits` limit the mail that the agent sends. `storage_quota_bytes` limits the mail that it stores, and `retention` sets the days after which its mail is deleted. `metadata` sets the keys that you give and deletes those with `null`. Moving a mailbox with `custom_domain_id` changes its address, and mail to the old address is refused.',
    keys: 'organization',
    body: { display_name: 'Sales', draft_approval: 'required' },
    reply: { display_name: 'Sales', draft_approval: 'required' },
    sdk: 'const identity = await callsign.identities.update($handle, $body)',
    cli: 'callsign identities update sales --name Sales --approval required',
  },
  deleteIdentity: {
    description:
      'Deletes an identity with everything that belongs to it: mailbox, messages, drafts, tunnel, keys and grants. Its keys stop working with the next request. This cannot be undone, and the handle cannot be used again.',
    keys: 'organization',
    sdk: 'await callsign.identities.delete($handle)',
    cli: 'callsign identities delete sales',
  },
  createAddress: {
    description:
      'Adds an address to an agent, on a verified domain of the organization or on the mail domain. Mail to it arrives in the mailbox of the agent, which can also send from it. The same local part can exist on several domains. On the mail domain, a local part of the form of a handle belongs to the identity with that handle. With `local_part: *`, the agent receives all mail to addresses that do not exist on a custom domain, and can send from any of them. `409 address_already_taken` means that another identity has the address, or another organization had it. An identity has at most 100 addresses.',
    keys: 'organization',
    body: { local_part: 'jane.doe', domain: 'acme.example' },
    reply: {
      email_address: 'jane.doe@acme.example',
      local_part: 'jane.doe',
      domain: 'acme.example',
      is_primary: false,
      is_catch_all: false,
    },
    sdk: 'const address = await callsign.addresses.create($handle, $body)',
    cli: 'callsign addresses create sales jane.doe --domain acme.example',
  },
  listAddresses: {
    description: 'Returns one page of the addresses of an agent, newest first. An agent key can read the addresses of its own agent.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.addresses.list($handle, $query)',
    cli: 'callsign addresses list sales',
  },
  setPrimaryAddress: {
    description:
      'Makes an address of the agent its primary one. Mail that names no other `from` is sent from it, and `mailbox_address` shows it. The address before it stays with the agent. A catch-all address cannot be the primary one.',
    keys: 'organization',
    params: { email_address: 'jane.doe@acme.example' },
    reply: {
      email_address: 'jane.doe@acme.example',
      local_part: 'jane.doe',
      domain: 'acme.example',
      is_primary: true,
      is_catch_all: false,
    },
    sdk: 'await callsign.addresses.setPrimary($handle, $email_address)',
    cli: 'callsign addresses set-primary sales jane.doe@acme.example',
  },
  deleteAddress: {
    description:
      'Deletes an address. Mail to it is refused with `550 5.1.1`, and messages stay in the mailbox. Only the same organization can create it again, for any of its agents. The primary address is rejected with 409: make another one primary first.',
    keys: 'organization',
    params: { email_address: 'jane.doe@acme.example' },
    sdk: 'await callsign.addresses.delete($handle, $email_address)',
    cli: 'callsign addresses delete sales jane.doe@acme.example',
  },
  listMailboxes: {
    description: 'Returns one page of mailboxes, newest first. Each identity has one. An agent key gets a list with its own mailbox.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.mailboxes.list($query)',
    cli: 'callsign identities list --limit 20',
  },
  getMailbox: {
    description: 'Returns one mailbox, named by its full address or by the handle of its agent.',
    sdk: 'const mailbox = await callsign.mailboxes.get($email_address)',
    cli: 'callsign identities show sales',
  },
  createKey: {
    description:
      'Creates an API key. An `agent` key is limited to the agents in `agent_handle` or `agent_handles`. `scopes` lists the rights of the key, and a request without the scope is answered with 403 `forbidden`. Without scopes, an organization key may do everything, and an agent key has the preset `agent`, which does not read the vault. `allowed_ips` limits the addresses from which the key is accepted. A key cannot create a key with more access than its own. Without `expires_at`, a key is valid until you revoke it. The server stores a salted hash, so the plaintext in `key` cannot be shown again.',
    keys: 'organization',
    body: { name: 'Sales in production', type: 'agent', agent_handle: 'sales', preset: 'agent', scopes: ['vault:read'] },
    reply: {
      name: 'Sales in production',
      type: 'agent',
      agent_handle: 'sales',
      agent_handles: ['sales'],
      scopes: [...scopePresets.agent, 'vault:read'],
    },
    sdk: 'const { key } = await callsign.keys.create($body)',
    cli: 'callsign keys create "Sales in production" --agent sales --preset agent --scope vault:read',
  },
  listKeys: {
    description: 'Returns one page of keys, newest first, with the time of their last use. Revoked and expired keys are included.',
    keys: 'organization',
    query: { limit: 20 },
    sdk: 'const page = await callsign.keys.list($query)',
    cli: 'callsign keys list --limit 20',
  },
  updateKey: {
    description: 'Changes the name of a key, which lists and the audit log show. Revoked keys and connected apps can be renamed too.',
    keys: 'organization',
    params: { id: sampleId('key') },
    body: { name: 'Sales in staging' },
    reply: { name: 'Sales in staging' },
    sdk: 'const key = await callsign.keys.update($id, $body)',
    cli: `callsign keys rename ${sampleId('key')} 'Sales in staging'`,
  },
  revokeKey: {
    description:
      'Revokes a key. The next request with it is rejected with 401, and its open tunnels and event streams are closed within a second. Revoking a key again returns the time of the first revocation.',
    keys: 'organization',
    params: { id: sampleId('key') },
    sdk: 'await callsign.keys.revoke($id)',
    cli: `callsign keys revoke ${sampleId('key')}`,
  },
  listUsage: {
    description:
      'Returns one item per day with mail, newest day first. Days without mail are left out. Without `by`, an item counts the whole organization. `by=agent` returns one item per day and agent, and `by=domain` one per day and domain. `agent_handle` and `domain` return the items of that agent or domain. `start_date` and `end_date` are days in UTC, and are both included. The default is the last 30 days. A message is counted on the day on which it reaches a status, and stays counted when it is deleted. A message to several recipients counts once, with the status of the message. Counts are kept for 400 days.',
    keys: 'organization',
    query: { by: 'agent', start_date: '2026-03-01', end_date: '2026-03-31' },
    sdk: 'const page = await callsign.usage.list($query)',
    cli: 'callsign usage list --by agent --from 2026-03-01 --to 2026-03-31',
  },
  listStorage: {
    description:
      'Returns the bytes of stored mail: all messages, also those in the trash and in quarantine, and the attachments of drafts. A message to two agents counts for both. `quota_bytes` is the quota in force, or `null` without one. Incoming mail that does not fit is answered with `452 4.2.2`, and a send or draft with 409 `storage_quota_exceeded`. At 80 % of a quota the event `storage.nearly_full` is emitted once, and `storage.full` when mail was refused or the quota is used up.',
    keys: 'organization',
    query: { by: 'agent' },
    sdk: 'const page = await callsign.usage.listStorage($query)',
    cli: 'callsign usage storage --by-agent',
  },
  previewRetention: {
    description:
      'Counts the data that a retention with these days would delete now, before you set it with `retention` of the organization or of an identity. Without `agent_handle`, agents with a day of their own are left out, because a retention of the organization does not apply to them. Messages that wait for their delivery, and those that a scheduled draft or one that waits for approval answers or forwards, are held and not deleted.',
    keys: 'organization',
    query: { messages_days: 365, attachments_days: 90 },
    sdk: 'const preview = await callsign.usage.previewRetention($query)',
    cli: 'callsign retention preview --messages-days 365 --attachments-days 90',
  },
  listRequests: {
    description:
      'Returns one page of API requests, newest first. A request appears within a second after its response. Requests without a valid key, and requests of people signed in to the console, are not in the log. The server stores neither bodies nor headers nor the values of query parameters, and it shows a parameter of the path only if it is an id. `status_class` is the first digit of the status, such as `4xx`. Requests are kept for `CALLSIGN_REQUEST_LOG_DAYS`, 30 by default. With 0, the log is off and the list is empty.',
    keys: 'organization',
    query: { status_class: '4xx', path: '/api/v1/mailboxes' },
    sdk: 'const page = await callsign.requests.list($query)',
    cli: 'callsign requests list --status 4xx --path /api/v1/mailboxes',
  },
  getRequest: {
    description: 'Returns one request by the id in its `X-Request-Id` header, which error responses also contain as `error.request_id`.',
    keys: 'organization',
    params: { id: sampleId('request') },
    sdk: 'const request = await callsign.requests.get($id)',
    cli: `callsign requests show ${sampleId('request')}`,
  },
}
