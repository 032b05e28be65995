// Readiness for databases that hold a share of the organizations each: keys of the schema, and statements of the hot paths.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'
import { recordTransactions, type Sent } from './harness/statements.ts'

/** Tables without an organization, by the reason. They are copied to each database, or belong to one process or provider. */
const installationTables: Record<string, string> = {
  acme_accounts: 'certificates of the installation',
  acme_challenges: 'certificates of the installation',
  backup_state: 'one database',
  certificates: 'certificates of the installation',
  console_attempts: 'counts sign-ins before the organization is known',
  console_challenges: 'short-lived, by user',
  deferred_mail: 'delays unknown senders before a mailbox is known',
  event_head: 'the position of the log of one database',
  gateway_nodes: 'processes',
  imessage_chats: 'lines shared by organizations',
  imessage_positions: 'positions at a provider',
  imessage_received: 'ids of a provider',
  imessage_simulated: 'a simulated provider',
  mta_sts_policies: 'cached from DNS and the web',
  oauth_clients: 'apps register before a person signs in',
  organizations: 'the organization itself: its id is the key',
  schema_migrations: 'one database',
  sms_catch_ups: 'positions at a provider',
}

/** Tables whose rows belong to a mailbox, and through it to an organization. */
const mailboxTables = ['deleted_messages', 'sent_drafts', 'thread_references']

/** Tables of organizations with some rows of the installation. */
const mixedTables: Record<string, string> = {
  dkim_keys: 'the mail domain has keys too',
  domain_reports: 'the mail domain has reports too',
  imessage_sends: 'help for a chat that has no agent',
}

/** Foreign keys between tables of organizations that leave the organization out, with the key that leads to it. */
const looseForeignKeys: Record<string, string> = {
  console_challenges_user_id_fkey: 'user',
  deleted_messages_mailbox_id_fkey: 'mailbox',
  imessage_sends_media_id_fkey: 'media of the message, whose key contains the organization',
  mailboxes_primary_address: 'identity',
  sent_drafts_mailbox_id_fkey: 'mailbox',
  thread_marks_mailbox_id_thread_id_fkey: 'mailbox, beside a key with the organization',
  thread_references_mailbox_id_thread_id_fkey: 'mailbox',
  threads_mailbox_id_joined_into_fkey: 'mailbox',
}

/** Unique names of the whole installation, which more than one database would have to share in a directory. */
const globalNames: Record<string, string> = {
  console_links_pkey: 'hash of a random token',
  console_sessions_token_hash_key: 'hash of a random token',
  dkim_keys_domain_selector_key: 'a domain has one place in DNS',
  dkim_keys_mail_domain: 'the mail domain',
  domains_one_holder: 'a verified domain belongs to one organization',
  handles_pkey: 'a handle is an address of the mail domain',
  identities_agent_handle_key: 'a handle is an address of the mail domain',
  installation_pkey: 'one row',
  known_recipients_pkey: 'the subject is an id of the organization or its agent',
  oauth_codes_pkey: 'hash of a random token',
  oauth_tokens_pkey: 'hash of a random token',
  phone_numbers_one_a_number: 'a number belongs to one organization',
  send_counts_pkey: 'the subject is an id of the organization or its agent',
  simulated_numbers_order_key_key: 'a simulated provider',
  simulated_numbers_pkey: 'a simulated provider',
  sms_media_blob_key_key: 'made by the server',
}

let harness: Harness
const schema = 'current_schema()::regnamespace'
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_AGENT_LOOP_SECONDS: '0' })
})
afterAll(() => harness?.stop())

async function list(text: string): Promise<string[]> {
  return (await harness.db.query<{ name: string }>({ text })).rows.map(({ name }) => name)
}

test('every table belongs to organizations, to mailboxes, or to the installation with a reason', async () => {
  const without =
    await list(`SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = ${schema}
    AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id' AND a.attnotnull AND NOT a.attisdropped)
    ORDER BY c.relname`)
  expect(without).toEqual([...Object.keys(installationTables), ...mailboxTables, ...Object.keys(mixedTables)].toSorted())
})

test('foreign keys between tables of organizations contain the organization', async () => {
  const found = await list(`SELECT k.conname AS name FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid AND c.relnamespace = ${schema} AND NOT c.relispartition JOIN pg_class t ON t.oid = k.confrelid
    WHERE k.contype = 'f' AND k.conparentid = 0 AND t.relname <> 'organizations'
      AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'organization_id')
      AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (k.conkey) AND a.attname = 'organization_id')
    ORDER BY k.conname`)
  expect(found).toEqual(Object.keys(looseForeignKeys).toSorted())
})

test('unique keys contain the organization or a key made by the server, except for names of the whole installation', async () => {
  const found = await list(`SELECT i.indexrelid::regclass::text AS name FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = ${schema} AND NOT c.relispartition
    WHERE i.indisunique AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id')
      AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
        AND (a.attname IN ('organization_id', 'id') OR a.attname LIKE '%\\_id'))
    ORDER BY 1`)
  expect(found).toEqual(Object.keys(globalNames).toSorted())
})

/** Statements that write independent rows of several organizations together. */
const groupedStatements: Record<string, string> = {
  'INSERT INTO api_requests': 'the log of requests',
}

/** The organization of every id that the database has. */
async function ownersOfIds(): Promise<Map<string, string>> {
  const tables =
    await list(`SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = ${schema}
    AND 2 = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('organization_id', 'id') AND a.atttypid = 'text'::regtype)`)
  const owners = new Map<string, string>()
  for (const table of tables) {
    const { rows } = await harness.db.query<{ id: string; organization_id: string }>({ text: `SELECT id, organization_id FROM ${table}` })
    for (const { id, organization_id } of rows) owners.set(id, organization_id).set(organization_id, organization_id)
  }
  return owners
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.flatMap(textsOf) : typeof value === 'string' ? [value] : [])

test('no transaction of mail in, mail out, lists or changes touches two organizations, except for mail between them', async () => {
  const other = harness.otherOrganization.key
  const keys = [harness.organizationKey, other]
  await Promise.all(['ada', 'bob'].map((handle, index) => harness.createAgent(handle, {}, keys[index] as string)))
  const { transactions, stop } = recordTransactions()
  try {
    for (const [index, handle] of ['ada', 'bob'].entries()) {
      const key = keys[index] as string
      await harness.deliver({ from: 'x@outside.example', to: `${handle}@agents.localhost`, subject: `To ${handle}`, text: 'hello' })
      const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages`, { key })
      const [message] = data
      await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${message.id}`, { key })
      await harness.expectApi(200, 'PATCH', `/mailboxes/${handle}/messages/${message.id}`, { key, body: { is_read: true } })
      await harness.expectApi(200, 'GET', `/mailboxes/${handle}/search?q=hello`, { key })
      await harness.expectApi(200, 'GET', `/mailboxes/${handle}/threads`, { key })
      await harness.expectApi(200, 'GET', '/events', { key })
      const sent = await harness.expectApi(201, 'POST', '/mail/send', {
        key,
        body: { agent: handle, to: [`${handle}@agents.localhost`], subject: 'To myself', text: 'note' },
      })
      await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${sent.id}`, { key })
    }
  } finally {
    stop()
  }
  const owners = await ownersOfIds()
  expect(transactions.length).toBeGreaterThan(40)
  const isGrouped = ({ text }: Sent) => Object.keys(groupedStatements).some((start) => text.startsWith(start))
  const touched = transactions
    .filter((statements) => !statements.every(isGrouped))
    .map((statements) => ({
      organizations: new Set(statements.flatMap(({ values }) => textsOf(values)).flatMap((text) => owners.get(text) ?? [])),
      statements: statements.map(({ text }) => text.replaceAll(/\s+/g, ' ').slice(0, 100)),
    }))
  expect(touched.filter(({ organizations }) => organizations.size > 0).length).toBeGreaterThan(20)
  expect(touched.filter(({ organizations }) => organizations.size > 1).map(({ statements }) => statements)).toEqual([])
})
