// DKIM on a whole server. The mail domain's keys exist from the first start, sign outgoing mail, and are sealed in the database.
import { execFileSync } from 'node:child_process'
import { signMessage } from '@callsign/mail/authentication/dkim/signing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDkim } from '../../mail/tests/harness/dkim-verifier.ts'
import { openKeyring } from '../src/edges/keyring/keyring.ts'
import { createDkim } from '../src/features/mail/domains/dkim/operations.ts'
import { sealingOf } from '../src/wiring/parts.ts'
import { repository } from './harness/callsignd.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, mailDomain, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
let dkim: ReturnType<typeof createDkim>
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann', { display_name: 'Änne' })
  const keyring = await openKeyring(harness.dataDir)
  dkim = createDkim({ db: harness.db, sealing: sealingOf(keyring.subkey('dkim-keys')), mailDomain })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const organizationOf = async (key?: string): Promise<string> =>
  (await harness.expectApi(200, 'GET', '/me', key ? { key } : {})).organization_id
const recordsOf = async (owner: Parameters<typeof dkim.listRecords>[0]) =>
  Object.fromEntries((await dkim.listRecords(owner)).map(({ name, value }) => [name, value]))

test('the first start makes an RSA and an Ed25519 key, and later starts keep them', async () => {
  const before = await dkim.listRecords({ organizationId: null, domain: mailDomain })
  expect(before.map((record) => record.algorithm).toSorted()).toEqual(['ed25519-sha256', 'rsa-sha256'])
  await Promise.all([dkim.ensureMailDomainKeys(), dkim.ensureMailDomainKeys()])
  expect(await dkim.listRecords({ organizationId: null, domain: mailDomain })).toEqual(before)
})

test('two nodes that start together agree on one pair', async () => {
  const sealing = { seal: (_scope: string, text: string) => text, open: (_scope: string, text: string) => text }
  const nodes = Array.from({ length: 3 }, () => createDkim({ db: harness.db, sealing, mailDomain: 'fresh.example' }))
  await Promise.all(nodes.map((node) => node.ensureMailDomainKeys()))
  expect(await dkim.listRecords({ organizationId: null, domain: 'fresh.example' })).toHaveLength(2)
})

test('private keys are sealed in the database', async () => {
  const { rows } = await harness.db.query<{ private_key: string }>({
    text: 'SELECT private_key FROM dkim_keys WHERE domain = $1',
    values: [mailDomain],
  })
  expect(rows).toHaveLength(2)
  for (const { private_key: text } of rows) expect(`${text}${Buffer.from(text, 'base64').toString('latin1')}`).not.toMatch(/PRIVATE KEY/)
})

describe('signatures verify', () => {
  test('the mail domain signs the bytes at the next hop, and the raw message of the API is the same', async () => {
    const { id } = await harness.send('ann', 'x@example.com', {
      subject: 'Signed — grüße',
      text: '.\n..\n\nx \n\n',
      html: '<p>ü</p>',
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(3000, 200).toString('base64') }],
    })
    const mail = await waitFor('the mail', () => sink.mails.find((one) => one.parsed.subject === 'Signed — grüße'))
    const records = await recordsOf({ organizationId: null, domain: mailDomain })
    const raw = await harness.expectApi(200, 'GET', `/mailboxes/ann/messages/${id}/raw`)
    expect(raw.toString('latin1')).toBe(mail.raw)
    expect(await verifyDkim([raw, Buffer.from(mail.raw, 'latin1')], records)).toEqual([
      ['pass', 'pass'],
      ['pass', 'pass'],
    ])
  })

  test('a custom domain signs with its own keys, and never with those of another organization', async () => {
    const [mine, theirs] = [await organizationOf(), await organizationOf(harness.otherOrganization.key)]
    const domain = 'shop.example'
    const [myPair, theirPair] = await Promise.all([dkim.generateKeyPair(), dkim.generateKeyPair('ed25519-sha256')])
    const record = await harness.db.transact((tx) => dkim.addKey(tx, { organizationId: mine, domain }, myPair))
    await harness.db.transact((tx) => dkim.addKey(tx, { organizationId: theirs, domain }, theirPair))
    expect(record).toMatchObject({
      name: expect.stringMatching(/^cs[a-z0-9]+\._domainkey\.shop\.example$/),
      value: expect.stringMatching(/^v=DKIM1; k=rsa; p=/),
    })
    const raw = Buffer.from('From: desk@shop.example\r\n\r\nx\r\n')
    const at = new Date('2026-01-01T00:00:00Z')
    const signed = await signMessage(raw, await dkim.findSigningKeys(mine, 'desk@SHOP.example'), at)
    expect(await verifyDkim([signed], await recordsOf({ organizationId: mine, domain }))).toEqual([['pass']])
    expect(await verifyDkim([signed], await recordsOf({ organizationId: theirs, domain }))).not.toEqual([['pass']])
    await harness.db.transact((tx) => dkim.removeKeys(tx, { organizationId: mine, domain }))
    expect(await signMessage(raw, await dkim.findSigningKeys(mine, 'desk@shop.example'), at)).toEqual(raw)
    expect(await dkim.listRecords({ organizationId: theirs, domain })).toHaveLength(1)
  })

  test('a key exists only if its transaction commits', async () => {
    const organizationId = await organizationOf()
    const pair = await dkim.generateKeyPair('ed25519-sha256')
    const stopped = new Error('stopped')
    const made = harness.db.transact(async (tx) => {
      await dkim.addKey(tx, { organizationId, domain: 'never.example' }, pair)
      throw stopped
    })
    await expect(made).rejects.toBe(stopped)
    expect(await dkim.listRecords({ organizationId, domain: 'never.example' })).toEqual([])
  })
})

test('callsignd dkim prints the records to publish', async () => {
  const printed = execFileSync('sh', [`${repository}/bin/run`, 'packages/server/src/main.ts', 'dkim'], {
    cwd: repository,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...harness.environment },
  }).toString()
  const records = await dkim.listRecords({ organizationId: null, domain: mailDomain })
  const lines = printed.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  for (const { name, value } of records) {
    const line = lines.find((one) => one.startsWith(`${name}. IN TXT "v=DKIM1;`)) as string
    expect(line.slice(line.indexOf('"')).replaceAll('" "', '').replaceAll('"', '')).toBe(value)
  }
})
