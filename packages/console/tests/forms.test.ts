// Errors at their fields, values that are shown once, and the results of checks and deliveries, as a person meets them.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../../server/tests/harness/receiver.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { findInaccessible, launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
import { lookAt, withoutFailedLoads } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let receiver: Receiver
let browser: Browser
let owner: Watched
let page: Page

const full = { status: 503, body: 'The queue of the agent is full' }

beforeAll(async () => {
  const settings = { CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32', CALLSIGN_WEBHOOK_RETRY_SECONDS: '3600' }
  ;[world, browser, receiver] = await Promise.all([startWorld({ isFilled: false, settings }), launchBrowser(), startReceiver(() => full)])
  await world.createAgent('sales')
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
  await receiver?.stop()
})

const dialog = () => page.getByRole('dialog')
/** The text that describes a field, which is its hint or its error. */
const noteOf = async (label: string): Promise<string> => {
  const id = await dialog().getByLabel(label, { exact: true }).getAttribute('aria-describedby')
  return (await page.locator(`[id="${id}"]`).textContent()) ?? ''
}

test('a webhook to a private address is refused at the URL, with the way that works', async () => {
  await page.goto('/console/webhooks')
  await page.getByRole('button', { name: 'New webhook' }).first().click()
  await page.keyboard.type('http://10.0.0.1/hook')
  await dialog().getByLabel('Custom headers').click()
  await page.keyboard.type('Bearer abc')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByText('Write the header "Bearer abc" as Name: value.').waitFor()
  expect(await noteOf('Custom headers')).toContain('Bearer abc')
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByText('callsign listen').waitFor()
  expect(await noteOf('URL')).toContain('CALLSIGN_OUTBOUND_ALLOW_CIDRS')
  expect(await noteOf('URL')).not.toContain('`')
  expect(await findInaccessible(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
})

test('a form on a page shows its errors at the fields as well', async () => {
  await page.goto('/console/settings?tab=profile')
  await page.getByText('Empty if you have none yet.').waitFor()
  await page.getByLabel('Email to sign in with').click()
  await page.keyboard.type('olga@example.com')
  await page.getByLabel('New password').click()
  await page.keyboard.type('short')
  await page.keyboard.press('Enter')
  await page.locator('[aria-invalid="true"]').waitFor()
  expect(await page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('Email').getAttribute('aria-invalid')).toBeNull()
})

test('a wrong current password is refused at its field, by the label', async () => {
  await page.getByLabel('New password').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('a long enough passphrase')
  await page.keyboard.press('Enter')
  await page.getByText('The password is set').waitFor()
  await page.getByText('Empty if you have none yet.').waitFor({ state: 'detached' })
  await world.db.query({ text: "UPDATE console_sessions SET created_at = created_at - interval '16 minutes'" })
  await page.getByLabel('Current password').click()
  await page.keyboard.type('not the one')
  await page.getByLabel('New password').click()
  await page.keyboard.type('another long passphrase')
  await page.keyboard.press('Enter')
  await page.getByText('Current password is wrong or missing.').waitFor()
  expect(await page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByText('current_password').count()).toBe(0)
})

test('on a phone, two keys of one name are distinguishable, also in the question before one is revoked', async () => {
  const make = () => world.expectApi(201, 'POST', '/keys', { body: { name: 'Scout', type: 'agent', agent_handle: 'sales' } })
  const [kept, revoked] = [await make(), await make()]
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/console/keys')
  const card = (of: { last4: string }) => page.getByRole('row', { name: new RegExp(`Scout.*${of.last4}`) })
  await card(kept).getByText(kept.last4).waitFor()
  await card(revoked)
    .getByRole('cell', { name: String(new Date().getUTCFullYear()) })
    .waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await card(revoked).getByRole('button', { name: 'Revoke' }).click()
  await page
    .getByRole('dialog', { name: `Revoke Scout, which ends with ${revoked.last4}?` })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await card(revoked).getByText('revoked', { exact: true }).waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
  expect((await world.api('GET', '/me', { key: kept.key })).status).toBe(200)
})

test('an error speaks of a field by its label, also in the composer', async () => {
  await page.goto('/console/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.keyboard.type('Late')
  await dialog().getByRole('checkbox', { name: 'sales' }).check()
  await dialog().getByLabel('Days until it expires').click()
  await page.keyboard.type('-4')
  await page.keyboard.press('Enter')
  await dialog().getByText('Days until it expires must be in the future.').waitFor()
  await page.keyboard.press('Escape')
  await page.goto('/console/inbox')
  await page.getByRole('button', { name: 'Compose' }).click()
  const composer = page.getByRole('region', { name: 'New message' })
  await composer.getByLabel('To', { exact: true }).click()
  await page.keyboard.type('not an address')
  await composer.getByText('"not an address" is not an email address').waitFor()
  expect(await composer.getByLabel('To', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('ada@park.example')
  await composer.getByText('Saved as a draft').waitFor()
  expect(await composer.getByLabel('To', { exact: true }).getAttribute('aria-invalid')).toBeNull()
  await page.keyboard.press('Escape')
})

/** As on a server without TLS, where browsers do not offer the clipboard. */
async function copyTheKey(): Promise<void> {
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
  await dialog().getByRole('button', { name: 'Copy' }).click()
  await dialog().locator('.button.primary', { hasText: 'Done' }).waitFor()
}

test('a new key is shown whole, and its dialog stays open until it was copied or given up', async () => {
  await page.goto('/console/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.keyboard.type('Typed key')
  await dialog().getByRole('checkbox', { name: 'sales' }).check()
  await dialog().getByRole('button', { name: 'Create' }).click()
  const value = dialog().getByText(/^svc_live_/)
  const key = String(await value.textContent())
  expect((await world.api('GET', '/me', { key })).status).toBe(200)
  // Nothing of the text is cut off.
  expect(await page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.whole-value'))")).toBe(
    0,
  )
  for (const _ of [1, 2, 3]) await page.keyboard.press('Escape')
  await dialog().getByText('You have not copied the key.').waitFor()
  expect(await value.isVisible()).toBe(true)
  await lookAt(page, 'key-not-copied')
  await dialog().getByRole('button', { name: 'Go back' }).click()
  await copyTheKey()
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: 'Typed key' }).waitFor()
})

test('a domain says for each record what is wanted, what was found and what to do', async () => {
  await page.goto('/console/domains')
  await page.getByRole('button', { name: 'Add domain' }).first().click()
  await page.keyboard.type('shop.local')
  await dialog().getByText('This is a local name.').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('shop.agents-in-tests.net')
  expect(await dialog().getByText('This is a local name.').count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'shop.agents-in-tests.net' }).waitFor()
  await page.getByText('Do not publish these records yet.').waitFor()
  expect(await page.getByRole('button', { name: 'Make default' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('shop.agents-in-tests.net is not verified yet').waitFor()
  await page.getByText('4 of 4 required records are missing or wrong.').waitFor()
  const dkim = page.getByRole('listitem', { name: /_domainkey/ })
  await dkim.getByText('Nothing at this name').waitFor()
  await dkim.getByText('Add this TXT record at your DNS host.').waitFor()
  // The whole value and its button are in sight.
  const box = await dkim.getByRole('button', { name: 'Copy the value' }).boundingBox()
  expect((box?.x ?? 2000) + (box?.width ?? 0)).toBeLessThanOrEqual(1440)
  await lookAt(page, 'domain-records')
})

test('a delivery shows the answer of the endpoint and the time of its next attempt', async () => {
  await world.expectApi(201, 'POST', '/webhooks', { body: { url: receiver.url, events: ['email.received'] } })
  await world.deliver({ from: 'Ada <ada@park.example>', to: 'sales@agents.localhost', subject: 'Deliver me', text: 'Hello' })
  await page.goto('/console/webhooks')
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByRole('heading', { name: receiver.url.replace('http://', '') }).waitFor()
  await waitFor('the failed attempt', async () => {
    await page.reload()
    await page.getByRole('table', { name: 'Deliveries' }).waitFor()
    return (await page.getByText('HTTP 503').count()) > 0
  })
  await page.getByRole('button', { name: 'Details of email.received' }).click()
  await dialog().getByText('The queue of the agent is full').waitFor()
  await dialog()
    .getByText(/^in \d+ (min|h)/)
    .waitFor()
  await lookAt(page, 'delivery')
})
