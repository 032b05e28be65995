// Certificates over ACME, from an authority that validates for real: ordered, served by name, renewed, and kept when an order fails.
import { once } from 'node:events'
import { get } from 'node:http'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { createAuthority, newAccountKey } from '../src/edges/acme/authority.ts'
import { createIssuedCertificates } from '../src/edges/postgres/certificates.ts'
import { listCertificates, renewCertificate } from '../src/host/certificates.ts'
import { type AcmeWorld, acmeNames, startAcmeWorld } from './harness/acme/world.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let world: AcmeWorld
let harness: Harness
const wildcard = `*.${acmeNames.tunnels}`

beforeAll(async () => {
  let port = 0
  world = await startAcmeWorld(() => port)
  // The first orders fail, because the names answer nowhere yet. They are repeated.
  harness = await startHarness({ ...world.settings, CALLSIGN_SUBMISSIONS_PORT: '0' })
  port = Number(new URL(harness.baseUrl).port)
  await waitFor('all certificates', async () => (await rows()).every(({ chain }) => chain !== null))
})
afterAll(async () => {
  await harness.stop()
  await world.stop()
})

type Row = { name: string; chain: string | null; sealed_key: string; due_at: Date; failures: number; last_error: string | null }
const rows = async () => (await harness.db.query<Row>({ text: 'SELECT * FROM certificates ORDER BY name' })).rows
const rowOf = async (name: string) => (await rows()).find((row) => row.name === name) as Row
const makeDue = (name: string) =>
  harness.db.query({ text: 'UPDATE certificates SET due_at = now(), failures = 0 WHERE name = $1', values: [name] })

/** A connection whose certificate was checked against the root of the authority. */
async function dial(port: number, servername: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca: world.acme.root })
  await once(socket, 'secureConnect')
  return socket
}
async function serialAt(port: number, servername: string): Promise<string> {
  const socket = await dial(port, servername)
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

/** The serial number of the next certificate at the HTTPS port. */
const renewed = (name: string, before: string) =>
  waitFor(`a new certificate of ${name}`, async () => {
    const serial = await serialAt(harness.httpsPort, name)
    return serial !== before && serial
  })

test('each listener serves a certificate of the authority for its names, and keys are stored encrypted', async () => {
  expect((await rows()).map(({ name }) => name)).toEqual([wildcard, acmeNames.api, acmeNames.mail])
  expect(await serialAt(harness.httpsPort, acmeNames.api)).toMatch(/^[0-9A-F]+$/)
  expect(await serialAt(harness.httpsPort, `any-agent.${acmeNames.tunnels}`)).toMatch(/^[0-9A-F]+$/)
  expect(await serialAt(harness.submissionPorts[0] as number, acmeNames.mail)).toMatch(/^[0-9A-F]+$/)
  expect(world.published(`_acme-challenge.${acmeNames.tunnels}`)).toEqual([])
  for (const { sealed_key } of await rows()) expect(Buffer.from(sealed_key, 'base64').toString('latin1')).not.toContain('PRIVATE')
  expect([...world.acme.state.accounts.values()]).toMatchObject([{ contact: ['mailto:operator@callsign.test'] }])
  expect((await harness.db.query({ text: 'SELECT FROM acme_challenges' })).rowCount).toBe(0)
})

test('a renewal replaces the certificate for new connections, and open ones stay', async () => {
  const before = await serialAt(harness.httpsPort, acmeNames.api)
  const open = await dial(harness.httpsPort, acmeNames.api)
  world.acme.faults.badNonces = 2
  world.acme.faults.processingReads = 2
  await makeDue(acmeNames.api)
  const after = await renewed(acmeNames.api, before)
  world.acme.faults.processingReads = 0
  expect(world.acme.faults.badNonces).toBe(0)
  const all = [...world.acme.state.certificates.values()]
  const [old, next] = [before, after].map((serial) => all.find(({ leaf }) => leaf.serialNumber === serial))
  expect(old?.replacedBy).toBe(next?.id)
  open.write(`GET /healthz HTTP/1.1\r\nHost: ${acmeNames.api}\r\n\r\n`)
  expect(String((await once(open, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  open.destroy()
})

test('a failed order keeps the certificate, and is repeated', async () => {
  const port = harness.submissionPorts[0] as number
  const before = await serialAt(port, acmeNames.mail)
  world.dns.set(acmeNames.mail, { A: ['127.0.0.9'] })
  await makeDue(acmeNames.mail)
  const failed = await waitFor('a failure', async () => {
    const row = await rowOf(acmeNames.mail)
    return row.failures > 0 && row
  })
  expect(failed.last_error).toMatch(/^connection: mail\.callsign\.test: /)
  expect(await serialAt(port, acmeNames.mail)).toBe(before)
  const line = harness.logLines().find((text) => text.includes('ordering a certificate failed') && text.includes('connection: mail.'))
  expect(JSON.parse(line as string)).toMatchObject({ level: 'error', name: acmeNames.mail, expires: expect.stringMatching(/^20/) })
  world.dns.set(acmeNames.mail, { A: ['127.0.0.1'] })
  await waitFor('the new certificate', async () => (await serialAt(port, acmeNames.mail)) !== before)
  expect(await rowOf(acmeNames.mail)).toMatchObject({ failures: 0, last_error: null })
})

test('a rate limit is waited for, and the orders of a day are limited', async () => {
  world.acme.faults.rateLimitSeconds = 7200
  await makeDue(wildcard)
  const limited = await waitFor('the rate limit', async () => {
    const row = await rowOf(wildcard)
    return row.failures > 0 && row
  })
  world.acme.faults.rateLimitSeconds = null
  expect(limited.last_error).toBe('rateLimited: too many orders')
  expect(limited.due_at.getTime() - Date.now()).toBeGreaterThan(7_000_000)

  await harness.db.query({
    text: "UPDATE certificates SET orders = 100, orders_on = (now() AT TIME ZONE 'UTC')::date WHERE name = $1",
    values: [wildcard],
  })
  const orders = () => world.acme.seen().filter((line) => line === 'POST /new-order').length
  const before = orders()
  await makeDue(wildcard)
  await waitFor('the limit of the day', () => harness.logLines().some((line) => line.includes('no more orders of this certificate today')))
  expect(orders()).toBe(before)
  await waitFor('the next day', async () => (await rowOf(wildcard)).due_at.getTime() > Date.now())
})

test('the authority can ask for an earlier renewal', async () => {
  const before = await serialAt(harness.httpsPort, acmeNames.api)
  world.acme.suggest(acmeNames.api, { startMs: Date.now() - 2000, endMs: Date.now() - 1000 })
  await renewed(acmeNames.api, before)
  const asks = () => world.acme.seen().filter((line) => line.startsWith('GET /renewal-info')).length
  const asked = asks()
  const dayMs = 86_400_000
  world.acme.suggest(acmeNames.api, { startMs: Date.now() + 30 * dayMs, endMs: Date.now() + 31 * dayMs })
  await waitFor('a later time', async () => asks() > asked && (await rowOf(acmeNames.api)).due_at.getTime() > Date.now())
})

test('an account is bound to one of the authority, with the key of the settings', async () => {
  const hmacKey = Buffer.from('a key of the authority, 32 bytes').toString('base64url')
  world.acme.settings.externalKeys = { 'key-1': hmacKey }
  const open = async (externalAccount: { kid: string; hmacKey: string } | null) => {
    const authority = await createAuthority({
      directoryUrl: world.acme.directoryUrl,
      accountKey: await newAccountKey(),
      accountUrl: null,
      email: null,
      externalAccount,
      roots: world.acme.ca,
      userAgent: 'Callsign/test',
    })
    return authority.openAccount()
  }
  try {
    await expect(open(null)).rejects.toThrow(/externalAccountBinding is required/)
    await expect(open({ kid: 'key-1', hmacKey: Buffer.from('wrong').toString('base64url') })).rejects.toThrow(
      /signature of the binding is wrong/,
    )
    await expect(open({ kid: 'key-2', hmacKey })).rejects.toThrow(/no account has the key id key-2/)
    expect(await open({ kid: 'key-1', hmacKey })).toMatch(/\/account\//)
  } finally {
    world.acme.settings.externalKeys = null
  }
})

test('certificates are listed on the host, and one is ordered early', async () => {
  const config = readConfig(harness.environment)
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  await listCertificates(config, harness.db, {}, print)
  expect(lines).toEqual(
    [wildcard, acmeNames.api, acmeNames.mail].map((name) =>
      expect.stringMatching(new RegExp(`^${name.replace('*', '\\*')} +valid until 20.*next order 20`)),
    ),
  )
  const before = await serialAt(harness.httpsPort, acmeNames.api)
  await renewCertificate(config, harness.db, acmeNames.api, print)
  expect(lines.at(-1)).toContain('within 0.1 seconds')
  await renewed(acmeNames.api, before)
  lines.length = 0
  await listCertificates(config, harness.db, { json: true }, print)
  expect(JSON.parse(lines[0] as string)[1]).toMatchObject({ name: acmeNames.api, failures: 0, last_error: null })
  await expect(renewCertificate(config, harness.db, 'other.callsign.test', print)).rejects.toThrow(/not one of the names/)
  await expect(listCertificates(readConfig({}), harness.db, {}, print)).rejects.toThrow(/CALLSIGN_ACME_DIRECTORY/)
})

test('an account that the authority has lost is created again', async () => {
  const before = await serialAt(harness.httpsPort, acmeNames.api)
  world.acme.state.accounts.clear()
  await makeDue(acmeNames.api)
  await renewed(acmeNames.api, before)
  expect(world.acme.state.accounts.size).toBe(1)
})

test('challenges are answered for tokens of an order only', async () => {
  const status = (path: string) =>
    new Promise((resolve, reject) => {
      get(`${harness.baseUrl}/.well-known/acme-challenge/${path}`, (response) => resolve(response.resume().statusCode)).on('error', reject)
    })
  expect(await status('a'.repeat(43))).toBe(404)
  expect(await status('..%2f..%2fetc')).toBe(404)
})

test('another process serves the same certificates without an order, and one process at a time may order', async () => {
  const orders = world.acme.seen().length
  const settings = { ...harness.environment, CALLSIGN_ROLES: 'api', CALLSIGN_SMTP_PORT: '0', CALLSIGN_PORT: '0' }
  const other = await startApp(readConfig(settings), createLog('silent'))
  try {
    expect(await serialAt(other.httpsPort as number, acmeNames.api)).toBe(await serialAt(harness.httpsPort, acmeNames.api))
  } finally {
    await other.stop()
  }
  expect(
    world.acme
      .seen()
      .slice(orders)
      .filter((line) => line.includes('order')),
  ).toEqual([])

  const plain = { seal: (_scope: string, text: string) => text, open: (_scope: string, text: string) => text }
  const store = createIssuedCertificates(harness.db, plain)
  const directory = 'https://other.test/directory'
  expect(await store.account(directory, async () => 'key one')).toEqual({ key: 'key one', url: null })
  expect(await store.account(directory, async () => 'key two')).toEqual({ key: 'key one', url: null })
  await store.ensure(['leased.callsign.test'], directory)
  const lease = (await store.lease(directory, 60_000)) as NonNullable<Awaited<ReturnType<typeof store.lease>>>
  expect(await store.lease(directory, 60_000)).toBeNull()
  const certificate = { name: 'leased.callsign.test', cert: 'cert', key: 'key', issuedAt: new Date() }
  expect(await store.save({ ...lease, token: 'an old one' }, certificate, new Date())).toBe(false)
  expect(await store.list([certificate.name])).toEqual([])
  expect(await store.save(lease, certificate, new Date())).toBe(true)
  await store.endLease(lease)
  expect(await store.renewLease(lease, 60_000)).toBe(false)
  expect(await store.lease(directory, 60_000)).not.toBeNull()
})

test('settings that need one another stop the start', () => {
  expect(() => readConfig({ CALLSIGN_ACME_DIRECTORY: 'http://acme.test/' })).toThrow(/must be letsencrypt, letsencrypt-staging or an https/)
  expect(() => readConfig({ CALLSIGN_ACME_NAMES: '*.a.example' })).toThrow(/DNS-01 needs CALLSIGN_ACME_DNS_HOOK/)
  expect(() => readConfig({ CALLSIGN_ACME_NAMES: 'localhost' })).toThrow(/comma list of domain names/)
  expect(() => readConfig({ CALLSIGN_ACME_EAB_KEY_ID: 'a' })).toThrow(/go together/)
  expect(readConfig({ CALLSIGN_ACME_DIRECTORY: 'letsencrypt' }).acmeDirectory).toBe('https://acme-v02.api.letsencrypt.org/directory')
})
