// The vault page in a browser: fixtures for its tests, and what a page must not keep.
import type { Browser, Page } from 'playwright-core'
import { openPage, type Watched } from './browser.ts'
import { waitForShell } from './sign-in.ts'
import type { World } from './world.ts'

export const vaultKey = 'correct horse battery staple'

/** The cheapest parameters that client and server accept. */
export const kdfParams = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }

/** Slow machines derive keys for seconds. */
const timeoutMs = 60_000

/** A page of a new browser context, signed in with a one-time link or an API key. `urls` gets the address of every request. */
export async function openVaultPage(
  world: World & { browser: Browser },
  signedIn: { key?: string; state?: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>> } = {},
): Promise<Watched & { urls: string[] }> {
  const watched = await openPage(world.browser, world.baseUrl, signedIn.state ? { storageState: signedIn.state } : {})
  const { page } = watched
  page.setDefaultTimeout(timeoutMs)
  const urls: string[] = []
  page.context().on('request', (request) => urls.push(request.url()))
  if (signedIn.key !== undefined) await signInByKey(page, signedIn.key)
  else if (!signedIn.state) {
    await page.goto(await world.newLink())
    await waitForShell(page)
  }
  return { ...watched, urls }
}

async function signInByKey(page: Page, key: string): Promise<void> {
  await page.goto('/console/')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const field = page.getByLabel('API key')
  if (!(await field.isVisible())) await page.getByRole('button', { name: 'Use an API key' }).click()
  await field.fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Screens' }).waitFor()
}

/** Fills the unlock form and submits it. */
export async function enterKey(page: Page, key = vaultKey): Promise<void> {
  await page.getByLabel('Vault key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Unlock', exact: true }).click()
}

export async function unlock(page: Page, key = vaultKey): Promise<void> {
  await enterKey(page, key)
  await page.getByRole('tab', { name: 'Secrets' }).waitFor()
}

/** Everything that the page keeps in the browser, as names and text. */
export const readStorage = (page: Page): Promise<{ local: [string, string][]; session: number; databases: number; caches: number }> =>
  page.evaluate(`(async () => ({
    local: Object.entries(localStorage),
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
  }))()`)
