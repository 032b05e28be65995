// Daily use: rules of all agents, the audit log by name, counts that agree, and addresses that lead nowhere.
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { findInaccessible, launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
import { withoutFailedLoads } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld(), launchBrowser()])
  owner = await openPage(browser, world.baseUrl)
  page = owner.page
  await page.goto(await world.newLink())
  await waitForShell(page)
})
afterEach(() => {
  expect(withoutFailedLoads(owner.problems.splice(0))).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await world?.stop()
})

test('the rules of all agents are in one list, and a new one is for every agent unless one is chosen', async () => {
  const rule = (entry: string) => ({ body: { direction: 'inbound', action: 'block', entry } })
  await world.expectApi(201, 'POST', '/identities/sales/mail-rules', rule('sales-only.example'))
  await world.expectApi(201, 'POST', '/identities/support/mail-rules', rule('support-only.example'))
  await page.goto('/console/rules')
  await page.getByRole('row', { name: /sales-only\.example sales/ }).waitFor()
  await page.getByRole('row', { name: /support-only\.example support/ }).waitFor()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('dialog').getByLabel('Address or domain').click()
  await page.keyboard.type('every.example')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /every\.example every agent/ }).waitFor()
  const { data } = await world.expectApi(200, 'GET', '/identities/*/mail-rules')
  expect(data).toMatchObject([{ entry: 'every.example', agent_handle: null }])
  await page
    .getByRole('row', { name: /support-only/ })
    .getByRole('button', { name: 'Pause' })
    .click()
  await page.getByText('The rule is paused').waitFor()
  expect((await world.expectApi(200, 'GET', '/identities/support/mail-rules')).data[0].status).toBe('paused')
  await page
    .getByRole('row', { name: /support-only/ })
    .getByRole('button', { name: 'Delete' })
    .click()
  await page.getByRole('row', { name: /support-only/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The rule is back').waitFor()
  expect((await world.expectApi(200, 'GET', '/identities/support/mail-rules')).data).toMatchObject([
    { entry: 'support-only.example', status: 'paused', direction: 'inbound', action: 'block' },
  ])
  await page.getByLabel('Agent', { exact: true }).selectOption('sales')
  await page.getByRole('row', { name: /sales-only/ }).waitFor()
  expect(await page.getByRole('row', { name: /every\.example/ }).count()).toBe(0)
  expect(await findInaccessible(page)).toEqual([])
})

test('the audit log names keys and members, is filtered by kind and words, and is saved as a file', async () => {
  await world.expectApi(201, 'POST', '/keys', { body: { name: 'Night shift', type: 'agent', agent_handle: 'sales' } })
  await page.goto('/console/audit')
  const table = page.getByRole('table', { name: 'Audit log' })
  await table.getByText('session.started').first().waitFor()
  const row = table.getByRole('row', { name: /mail_rule\.created.*every\.example/ })
  await row.getByText('Owner').waitFor()
  await table
    .getByRole('row', { name: /key\.created.*Night shift/ })
    .getByText('First key')
    .waitFor()
  await page.getByLabel('Kind').selectOption('key')
  await table.getByText('session.started').waitFor({ state: 'detached' })
  await page.getByRole('searchbox', { name: 'Search' }).click()
  await page.keyboard.type('night')
  await table.getByText('Travel').waitFor({ state: 'detached' })
  await table.getByText('Night shift').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('Night shift')
  await page.getByText('Exported 1 entry').waitFor()
})

test('overview and usage count the same mail', async () => {
  const { channels } = JSON.parse(await page.evaluate("fetch('/console/api/overview').then((answer) => answer.text())"))
  const mail = channels.find((one: { channel: string }) => one.channel === 'mail')
  expect(mail.in).toBeGreaterThan(0)
  await page.goto('/console/usage?days=7')
  await page.locator('.legend.received', { hasText: `${mail.in} received` }).waitFor()
  await page.locator('.legend.sent', { hasText: `${mail.out} sent` }).waitFor()
  await page.getByText('Messages per day').waitFor()
})

test('an address that leads nowhere says so, and a screen above is at the left', async () => {
  for (const path of ['/webhooks/whk_nothing', '/domains/nonsense', '/identities/not_there']) {
    await page.goto(`/console${path}`)
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
  }
  await page.goto('/console/tunnels/sales')
  const back = await page.getByRole('link', { name: 'All tunnels' }).boundingBox()
  const title = await page.getByRole('heading', { name: 'Tunnel of sales' }).boundingBox()
  expect((back?.x ?? 0) + (back?.width ?? 2000)).toBeLessThanOrEqual(title?.x ?? 0)
})

test('on a phone, the times of a list and the inspection of a message are in sight', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  const isInside = async (label: string, box: { x: number; width: number } | null) =>
    expect(box && box.x >= 0 && box.x + box.width <= 390, label).toBe(true)
  await page.goto('/console/inbox')
  const row = page.locator('.mail-row', { hasText: 'Shipping 40 units' })
  await isInside('time of a row', await row.locator('time').boundingBox())
  await row.getByRole('link').click()
  await page.locator('.thread-subject').waitFor()
  await isInside('inspect', await page.getByRole('link', { name: 'Inspect' }).boundingBox())
  await isInside('time of a message', await page.locator('.message-card time').first().boundingBox())
  await page.goto('/console/rules')
  const rule = page.getByRole('row', { name: /sales-only/ })
  await rule.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('The rule is paused').waitFor()
  await rule.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('The rule is active').waitFor()
  // The bar has room for one message.
  expect(await page.locator('.toast').filter({ visible: true }).allTextContents()).toEqual([expect.stringContaining('The rule is active')])
  await page.goto('/console/quarantine')
  await page.getByText('Urgent: your account is suspended').click()
  await page.getByRole('article', { name: 'Message in quarantine' }).waitFor()
  await isInside('inspect in quarantine', await page.getByRole('link', { name: 'Inspect' }).boundingBox())
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('on a phone, a change names its object, and a request its time and error', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  const { id } = await world.expectApi(201, 'POST', '/keys', { body: { name: 'On the road', type: 'agent', agent_handle: 'sales' } })
  expect((await world.api('GET', '/identities/not_there')).status).toBe(404)
  await page.goto('/console/audit?kind=key')
  const change = page.getByRole('table', { name: 'Audit log' }).getByRole('row', { name: /key\.created/ })
  await change.getByText(id.slice(-6)).waitFor()
  await waitFor('the logged request', async () => {
    const { data } = await world.expectApi(200, 'GET', '/requests?status_class=4xx')
    return data.some((one: { error_code: string }) => one.error_code === 'not_found')
  })
  await page.goto('/console/requests?status=4xx')
  const request = page.getByRole('row', { name: /GET \/api\/v1\/identities/ }).first()
  await request.getByText('not_found').waitFor()
  await request.locator('time').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await page.setViewportSize({ width: 1440, height: 900 })
})
