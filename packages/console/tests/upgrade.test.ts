// A tab that stays open while the server is upgraded: its code is gone, so it loads the new page once.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
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
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await world?.stop()
})

/** The files of a screen are gone until the page is loaded again. Returns the number of loads since. */
async function lose(screen: string): Promise<() => number> {
  let loads = 0
  page.on('load', () => loads++)
  await page.route(new RegExp(`/console/assets/${screen}-screen`), (route) =>
    loads === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  )
  return () => loads
}

test('a screen whose code is gone while the server has the same build says so', async () => {
  await page.goto('/console/inbox')
  await waitForShell(page)
  const loads = await lose('domains')
  await page.getByRole('link', { name: 'Domains' }).click()
  await page.getByText('Loading failed').waitFor()
  expect(loads()).toBe(0)
  await page.unrouteAll()
})

test('a screen whose code was replaced loads the page again, once', async () => {
  await page.goto('/console/inbox')
  await waitForShell(page)
  const loads = await lose('webhooks')
  await page.route('**/console/', (route) =>
    route.request().isNavigationRequest()
      ? route.continue()
      : route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/console/assets/index-new.js"></script>' }),
  )
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
  expect(loads()).toBe(1)
  await page.unrouteAll()
})
