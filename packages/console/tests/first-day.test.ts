// The first day on an empty server: the first steps with their states, the documentation, and the command palette.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findInaccessible, launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { showKeyField, waitForShell } from './harness/sign-in.ts'
import { lookAt, withoutFailedLoads } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
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

const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
const palette = () => page.getByRole('dialog', { name: 'Search' })

test('an empty server leads from the first agent to a message that was read, and the steps leave when they are done', async () => {
  await page
    .getByRole('region', { name: 'First steps' })
    .getByText(/^[01] of 4 done$/)
    .waitFor()
  expect(await page.getByText('Nothing waits for a person').count()).toBe(0)
  await lookAt(page, 'first-steps')
  await step('Create an agent').getByRole('button', { name: 'New identity' }).click()
  const dialog = page.getByRole('dialog')
  await page.keyboard.type('Not A Handle')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('Has the wrong form').waitFor()
  // The field that was refused has the cursor.
  expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe('true')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('desk')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await step('Create an agent').getByText('Done', { exact: true }).waitFor()
  await step('Send it a message').getByText('desk@agents.localhost').waitFor()
  await step('Send it a message').getByRole('button', { name: 'Deliver a test message' }).click()
  await step('Send it a message').getByRole('link', { name: 'Open the inbox' }).click()
  await page.getByRole('link', { name: /A question/ }).click()
  await page.locator('.thread-subject').waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await step('Connect a client').getByText('Done', { exact: true }).waitFor()
  await step('Set a passkey or password').getByRole('link', { name: 'Set it' }).click()
  await page.getByLabel('New password').click()
  await page.keyboard.type('a long enough passphrase')
  await page.keyboard.press('Enter')
  // The first owner has no address yet, and a password signs in only with one.
  const email = page.getByLabel('Email to sign in with')
  expect(await page.evaluate('document.activeElement.type')).toBe('email')
  await page.keyboard.type('olga@example.com')
  await page.keyboard.press('Enter')
  await page.getByText('The password is set').waitFor()
  await email.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('olga@example.com')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('Nothing waits for a person').waitFor()
  expect(await page.getByRole('region', { name: 'First steps' }).count()).toBe(0)
})

/** Types a key on the sign-in page, which hides its field once a member has a password. */
async function typeKey(of: Page, key: string): Promise<void> {
  await (await showKeyField(of)).click()
  await of.keyboard.type(key)
  await of.keyboard.press('Enter')
}

test('hidden steps stay hidden', async () => {
  const other = await openPage(browser, world.baseUrl)
  await other.page.goto('/console/')
  await typeKey(other.page, world.otherOrganization.key)
  const steps = other.page.getByRole('region', { name: 'First steps' })
  await steps.getByRole('button', { name: 'Hide' }).click()
  await steps.waitFor({ state: 'detached' })
  await other.page.reload()
  await other.page.getByText('Nothing waits for a person').waitFor()
  expect(await steps.count()).toBe(0)
  await other.close()
})

test('the palette opens by Ctrl K, finds a screen, an agent and a thread, and keys beside it do nothing', async () => {
  await page.goto('/console/inbox')
  await page.getByRole('link', { name: /A question/ }).waitFor()
  await page.keyboard.press('Control+k')
  await palette().waitFor()
  expect(await findInaccessible(page)).toEqual([])
  await page.keyboard.type('tunn')
  await palette().getByRole('option', { name: 'Tunnels' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Tunnels' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('desk')
  await palette()
    .getByRole('option', { name: /desk@agents/ })
    .click()
  await page.getByRole('heading', { name: 'desk', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Norway')
  await palette()
    .getByRole('option', { name: /A question/ })
    .click()
  await page.locator('.thread-subject', { hasText: 'A question' }).waitFor()
  await page.keyboard.press('Control+k')
  await palette().getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('#')
  await page.keyboard.press('c')
  await page.keyboard.press('Escape')
  await palette().waitFor({ state: 'detached' })
  expect(await page.getByText('Moved to the trash').count()).toBe(0)
  expect(await page.getByRole('region', { name: 'New message' }).count()).toBe(0)
})

test('a handle that is taken is refused at its field, and a live event leads to its message', async () => {
  await page.goto('/console/identities')
  await page.getByRole('button', { name: 'New identity' }).click()
  await page.keyboard.type('desk')
  await page.keyboard.press('Enter')
  const handle = page.getByRole('dialog').getByLabel('Handle')
  await page.getByRole('dialog').getByText('The handle desk is taken').waitFor()
  expect(await handle.getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.press('Escape')
  await page.goto('/console/overview')
  await page.getByRole('region', { name: 'Live events' }).getByRole('link', { name: 'A question' }).first().click()
  await page.locator('.thread-subject', { hasText: 'A question' }).waitFor()
})

test('events of the session before are gone after another sign-in', async () => {
  const shared = await openPage(browser, world.baseUrl)
  await shared.page.goto(await world.newLink())
  await waitForShell(shared.page)
  await shared.page.getByRole('region', { name: 'Live events' }).getByText('email.received').first().waitFor()
  await shared.page.getByRole('button', { name: 'Sign out' }).click()
  await typeKey(shared.page, world.otherOrganization.key)
  await shared.page.getByText('Waiting for the next event').waitFor()
  expect(await shared.page.getByText('email.received').count()).toBe(0)
  await shared.close()
})

test('the documentation is one click away', async () => {
  await page.goto('/console/overview')
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Docs' }).click()
  await page.waitForURL('**/docs')
})
