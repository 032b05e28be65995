// The screens of channels and of the organization in Chromium: with data, empty, failing and slow, in both colour schemes and on a phone.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAppTools } from '../../server/tests/harness/connected-app.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { copyAndClose, findInaccessible, launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { signInByKey, waitForShell } from './harness/sign-in.ts'
import { expectAccessible, expectFailure, openFailingPage, type ScreenCase, withoutFailedLoads } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page
const ids = { number: '', conversation: '', webhook: '', domain: '' }

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  const post = (path: string, body: object) => world.expectApi(201, 'POST', path, { body })
  await world.createAgent('sales', { display_name: 'Sales', draft_approval: 'required' })
  await post('/keys', { name: 'Sales in production', type: 'agent', agent_handle: 'sales', scopes: ['vault:read'] })
  ids.domain = (await post('/domains', { domain: 'mail.example.com' })).data.id
  await post('/identities/sales/mail-rules', {
    direction: 'inbound',
    action: 'block',
    entry: 'newsletter.example',
    reason: 'Only advertising',
  })
  await post('/suppressions', { email_address: 'gone@example.com', reason: 'Asked to be removed' })
  ids.webhook = (await post('/webhooks', { url: 'https://agent.example.com/hooks', events: ['*'] })).id
  const number = await post('/phone/numbers', { agent_handle: 'sales' })
  ids.number = number.id
  await post('/simulator/sms', { to: number.phone_number, from: '+16502530000', text: 'Your code is 492816' })
  ids.conversation = (await post('/simulator/imessage', { from: '+14155550123', text: 'connect @sales' })).conversation_id
  await post('/simulator/imessage', { from: '+14155550123', text: 'Do you ship to Norway?' })
  await world.deliver({ from: 'Ada <ada@park.example>', to: 'sales@agents.localhost', subject: 'Counted', text: 'Hello' })
  await world.waitForMail('sales', 'Counted')
  owner = await openPage(browser, world.baseUrl)
  page = owner.page
  await page.goto(await world.newLink())
  await waitForShell(page)
  await connectApp()
})
afterEach(() => {
  expect(owner.problems.splice(0)).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await world?.stop()
})

/** Connects an app to the agent, as the signed-in person. */
async function connectApp(): Promise<void> {
  const cookie = (await page.context().cookies()).find(({ name }) => name === 'callsign_session')?.value ?? ''
  const csrf = (await page.evaluate("fetch('/console/api/state').then(async (state) => (await state.json()).session.csrf)")) as string
  await createAppTools(world).connectApp({ cookie, csrf }, {}, { client_name: 'Writing app' })
}

const screens: ScreenCase[] = [
  { name: 'identities', path: () => '/identities', data: 'sales@agents.localhost', empty: 'No identities yet' },
  { name: 'one identity', path: () => '/identities/sales', data: 'A person sends its drafts' },
  { name: 'keys', path: () => '/keys', data: 'Sales in production' },
  { name: 'connected apps', path: () => '/apps', data: 'Writing app', empty: 'No connected apps' },
  { name: 'domains', path: () => '/domains', data: 'mail.example.com', empty: 'No domains yet' },
  { name: 'one domain', path: () => `/domains/${ids.domain}`, data: 'Publish these records' },
  { name: 'rules', path: () => '/rules', data: 'newsletter.example', empty: 'No rules yet' },
  { name: 'suppressions', path: () => '/rules?tab=suppressions', data: 'gone@example.com', empty: 'No suppressed addresses' },
  { name: 'phone numbers', path: () => '/phone', data: '+1', empty: 'No phone numbers yet' },
  { name: 'senders', path: () => `/phone/${ids.number}`, data: '+16502530000' },
  { name: 'texts', path: () => `/phone/${ids.number}/+16502530000`, data: 'Your code is 492816' },
  { name: 'iMessage', path: () => '/imessage', data: '+14155550123', empty: 'No conversations yet' },
  { name: 'one conversation', path: () => `/imessage/${ids.conversation}`, data: 'Do you ship to Norway?' },
  { name: 'tunnels', path: () => '/tunnels', data: 'not connected', empty: 'No tunnels yet' },
  { name: 'one tunnel', path: () => '/tunnels/sales', data: 'No requests yet' },
  { name: 'webhooks', path: () => '/webhooks', data: 'https://agent.example.com/hooks', empty: 'No webhooks yet' },
  { name: 'one webhook', path: () => `/webhooks/${ids.webhook}`, data: 'imessage.received' },
  { name: 'events', path: () => '/events', data: 'imessage.received', empty: 'No events yet' },
  { name: 'audit log', path: () => '/audit', data: 'webhook.created' },
  { name: 'usage', path: () => '/usage?by=agent', data: 'sales', empty: 'No mail in this period' },
  { name: 'storage', path: () => '/usage?by=storage', data: 'The organization' },
  { name: 'request log', path: () => '/requests', data: '/api/v1/phone/numbers' },
  { name: 'simulator', path: () => '/simulator', data: 'takes the path of mail over SMTP', empty: 'No identities yet' },
  { name: 'hostile mail', path: () => '/simulator?tab=hostile', data: 'Instructions that readers cannot see' },
  { name: 'simulated texts', path: () => '/simulator?tab=text', data: 'From', empty: 'No simulated numbers yet' },
  { name: 'faults', path: () => '/simulator?tab=faults', data: 'Times' },
  { name: 'outbox', path: () => '/simulator?tab=outbox', data: 'You are connected to Sales', empty: 'Nothing sent yet' },
  { name: 'settings', path: () => '/settings', data: 'New password' },
  { name: 'sessions', path: () => '/settings?tab=sessions', data: 'this one' },
  { name: 'members', path: () => '/settings?tab=members', data: 'Invite' },
  { name: 'sending', path: () => '/settings?tab=sending', data: 'All mail together' },
  { name: 'MCP', path: () => '/settings?tab=mcp', data: 'npx add-mcp' },
  { name: 'compatibility', path: () => '/settings?tab=compatibility', data: 'RESEND_BASE_URL' },
  { name: 'server', path: () => '/settings?tab=server', data: 'CALLSIGN_REQUEST_LOG_DAYS' },
]

test.each(screens)('$name with data is accessible, in both colour schemes and on a phone', (screen) => expectAccessible(page, screen))

/** The bytes of a few small messages, as the screen shows them. */
const bytesText = (bytes: number): string => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`)

/** Every call of a screen but the event stream. */
const requests = /\/(api\/v1\/(?!events\/stream)|console\/api\/(sessions|members|server))/
/** Screens that show nothing before their first answer. */
const loading = screens.filter(
  ({ name }) => !['settings', 'MCP', 'simulator', 'hostile mail', 'faults', 'one tunnel', 'compatibility'].includes(name),
)

test('slow screens show that they load, and failing ones say so and load again', async () => {
  const failing = await openFailingPage(browser, world.baseUrl, page)
  for (const screen of loading) await expectFailure(failing.page, screen, requests)
  expect(withoutFailedLoads(failing.problems)).toEqual([])
  await failing.close()
})

test('screens without data say so', async () => {
  const other = await openPage(browser, world.baseUrl)
  await signInByKey(other.page, world.otherOrganization.key)
  for (const { path, empty } of screens) {
    if (!empty) continue
    await other.page.goto(`/console${path()}`)
    await other.page.getByText(empty).first().waitFor()
  }
  expect(other.problems).toEqual([])
  await other.close()
})

describe('a person', () => {
  test('creates an identity, changes its limits and deletes it', async () => {
    await page.goto('/console/identities')
    await page.getByRole('button', { name: 'New identity' }).click()
    await page.getByLabel('Handle').fill('helper')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('helper@agents.localhost').first().waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Approval').selectOption('required')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('A person sends its drafts').waitFor()
    expect((await world.expectApi(200, 'GET', '/identities/helper')).draft_approval).toBe('required')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Identities' }).waitFor()
    await world.expectApi(404, 'GET', '/identities/helper')
  })

  test('creates a key, which is shown once, and revokes it', async () => {
    await page.goto('/console/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('From the console')
    await page.getByRole('checkbox', { name: 'sales' }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    const key = String(
      await page
        .getByText(/^svc_live_/)
        .first()
        .textContent(),
    ).trim()
    expect((await world.api('GET', '/me', { key })).body.key).toMatchObject({ name: 'From the console', agent_handle: 'sales' })
    await copyAndClose(page)
    await page
      .getByRole('row', { name: /From the console/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page
      .getByRole('row', { name: /From the console/ })
      .getByText('revoked')
      .waitFor()
    expect((await world.api('GET', '/me', { key })).status).toBe(401)
  })

  test('reads how much of a quota an agent has used', async () => {
    const used = (await world.expectApi(200, 'GET', '/usage/storage?agent_handle=sales')).data[0].used_bytes as number
    expect(used).toBeGreaterThan(0)
    await world.expectApi(200, 'PATCH', '/identities/sales', { body: { storage_quota_bytes: used * 4 } })
    await page.goto('/console/usage')
    await page.getByRole('tab', { name: 'Storage' }).click()
    const cells = (name: RegExp) =>
      page.getByRole('table', { name: 'Stored mail' }).getByRole('row', { name }).getByRole('cell').allTextContents()
    await page.getByText('25 %').waitFor()
    const [, usedText, quotaText, share] = await cells(/^sales/)
    expect([usedText, quotaText, share]).toEqual([bytesText(used), bytesText(used * 4), '25 %'])
    expect((await cells(/^The organization/)).slice(2)).toEqual(['none', ''])
    await world.expectApi(200, 'PATCH', '/identities/sales', { body: { storage_quota_bytes: null } })
  })

  test('pauses all sending with a reason, which every screen shows, and resumes', async () => {
    await page.goto('/console/overview')
    await page.getByRole('button', { name: 'Pause sending' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause all sending?' })
    await dialog.getByLabel('Reason').fill('An agent writes to the wrong people.')
    await dialog.getByRole('button', { name: 'Pause sending' }).click()
    await page.getByText('An agent writes to the wrong people.').waitFor()
    expect((await world.expectApi(200, 'GET', '/organization')).pause_reason).toBe('An agent writes to the wrong people.')
    await page.goto('/console/keys')
    await page.getByText('All sending is paused since').waitFor()
    expect(await findInaccessible(page)).toEqual([])
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('All sending is paused since').waitFor({ state: 'detached' })
    expect((await world.expectApi(200, 'GET', '/organization')).paused_at).toBeNull()
  })

  test('limits what an agent and the organization send', async () => {
    await page.goto('/console/identities/sales')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Messages per hour').fill('60')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('60 messages per hour').waitFor()
    await page.goto('/console/settings?tab=sending')
    const all = page.locator('form', { hasText: 'All mail together' })
    await all.getByLabel('Messages per day').fill('5000')
    await all.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    expect((await world.expectApi(200, 'GET', '/organization')).sending_limits.messages_per_day).toBe(5000)
  })

  test('adds an alias and a catch-all address, makes one primary, and deletes the other', async () => {
    await world.db.query({
      text: "UPDATE domains SET status = 'verified', holds_name = true, verified_at = now(), check_at = now() + interval '1 day' WHERE id = $1",
      values: [ids.domain],
    })
    await world.createAgent('desk')
    await page.goto('/console/identities/desk')
    const card = page.getByRole('region', { name: 'Addresses' })
    const dialog = page.getByRole('dialog')
    await card.getByText('primary', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Add an address' }).click()
    await dialog.getByLabel('Domain').selectOption('mail.example.com')
    await dialog.getByLabel('Before the @').fill('jane.doe')
    expect(await findInaccessible(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await card.getByText('jane.doe@mail.example.com').first().waitFor()
    await card.getByRole('button', { name: 'Make primary' }).click()
    await card
      .getByRole('row', { name: /jane\.doe/ })
      .getByText('primary', { exact: true })
      .waitFor()
    await card.getByRole('button', { name: 'Add an address' }).click()
    await dialog.getByLabel('Domain').selectOption('mail.example.com')
    await dialog.getByLabel(/catch-all/).check()
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await card.getByText('catch-all', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Delete desk@mail.example.com' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('desk@mail.example.com is deleted').waitFor()
    const { data } = await world.expectApi(200, 'GET', '/identities/desk/addresses')
    expect(data.map((one: { email_address: string; is_primary: boolean }) => [one.email_address, one.is_primary])).toEqual([
      ['*@mail.example.com', false],
      ['jane.doe@mail.example.com', true],
    ])
  })

  test('creates a webhook for several agents with a header, changes it, and sees that it fails and when its old secret ends', async () => {
    await world.createAgent('first')
    await world.createAgent('second')
    await page.goto('/console/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('https://agent.example.com/several')
    await dialog.getByLabel('Events', { exact: true }).selectOption('listed')
    await dialog.getByLabel('email.received').check()
    await dialog.getByLabel('Agents', { exact: true }).selectOption('listed')
    await dialog.getByLabel('first').check()
    await dialog.getByLabel('second').check()
    await dialog.getByLabel('Custom headers').fill('Authorization: Bearer abc')
    await dialog.getByLabel('Format').selectOption('resend')
    expect(await findInaccessible(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await copyAndClose(page)
    const { data } = await world.expectApi(200, 'GET', '/webhooks?limit=1')
    const { id } = data[0]
    expect(data[0]).toMatchObject({
      events: ['email.received'],
      agent_handles: ['first', 'second'],
      header_names: ['authorization'],
      format: 'resend',
      old_secret_expires_at: null,
    })
    await page.getByRole('link', { name: 'https://agent.example.com/several' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('second').uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await world.expectApi(200, 'GET', `/webhooks/${id}`)).toMatchObject({
      agent_handles: ['first'],
      header_names: ['authorization'],
    })
    await world.db.query({ text: "UPDATE webhooks SET failing_since = now() - interval '2 hours' WHERE id = $1", values: [id] })
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('dialog').getByText('refuses every event after that').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click()
    await copyAndClose(page)
    await page.getByText('Deliveries are signed with the old secret too for another 24 h').waitFor()
    await page.getByText('failing for 2 h').waitFor()
    await page.goto('/console/webhooks')
    await page
      .getByRole('row', { name: /several/ })
      .getByText('failing for 2 h')
      .waitFor()
    expect(await findInaccessible(page)).toEqual([])
  })

  test('finds a request by status and path, and reads its fields without values', async () => {
    await world.expectApi(400, 'POST', '/keys', { body: { name: 'secret name', type: 'agent' } })
    await page.goto('/console/requests?path=/api/v1/keys')
    await page.getByLabel('Status').selectOption('4xx')
    await waitFor('the refused request in the log', async () => {
      await page.getByRole('button', { name: 'Newest' }).click()
      return (await page.getByText('validation_error').count()) > 0
    })
    await page
      .getByRole('row', { name: /validation_error/ })
      .getByRole('button', { name: 'Details' })
      .click()
    await page.getByRole('dialog').getByText('createKey').waitFor()
    expect(await page.getByRole('dialog').textContent()).not.toContain('secret name')
    expect(await findInaccessible(page)).toEqual([])
  })

  test('disconnects an app', async () => {
    await page.goto('/console/apps')
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('No connected apps').waitFor()
    const { data } = await world.expectApi(200, 'GET', '/keys')
    expect(data.find((one: { name: string }) => one.name === 'Writing app').revoked_at).not.toBeNull()
  })

  test('pauses a webhook', async () => {
    await page.goto(`/console/webhooks/${ids.webhook}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused', { exact: true }).waitFor()
    expect((await world.expectApi(200, 'GET', `/webhooks/${ids.webhook}`)).status).toBe('paused')
  })
})
