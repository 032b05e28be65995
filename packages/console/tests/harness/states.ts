// The states of a screen: with data in both colour schemes and on a phone, slow, failing, and loaded again.
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { findInaccessible, keepIntercepting, openPage, takePicture, type Watched } from './browser.ts'
import { loadAgain } from './sign-in.ts'

/** A screen, with a text that it shows once it has its data, and one that it shows without any. */
export type ScreenCase = { name: string; path: () => string; data: string; empty?: string }

const wide = { width: 1440, height: 900 }
const narrow = { width: 390, height: 844 }

const waitForData = (page: Page, { data }: ScreenCase) => page.getByText(data).filter({ visible: true }).first().waitFor()

/** Opens a screen, and checks it in light and dark, and at 390 px. */
export async function expectAccessible(page: Page, screen: ScreenCase): Promise<void> {
  await page.goto(`/console${screen.path()}`)
  await waitForData(page, screen)
  await lookAt(page, screen.name.replaceAll(' ', '-'), () => waitForData(page, screen))
}

/** Checks the open page at 1440 and at 390 px, where it has to show the same again, each in light and dark. */
export async function lookAt(page: Page, name: string, waitAgain = async () => {}): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  await takePicture(page, `${name}-light`)
  expect(await findInaccessible(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await takePicture(page, `${name}-dark`)
  expect(await findInaccessible(page, { part: 'scheme' })).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(narrow)
  await waitAgain()
  await takePicture(page, `${name}-phone`)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(narrow.width)
  expect(await findInaccessible(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await takePicture(page, `${name}-phone-dark`)
  expect(await findInaccessible(page, { part: 'scheme' })).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(wide)
}

const failure = {
  status: 400,
  contentType: 'application/json',
  body: '{"error":{"code":"internal_error","message":"It broke.","request_id":"req_1"}}',
}

/** A page with the session of another, for requests that tests hold or answer. */
export async function openFailingPage(browser: Browser, baseUrl: string, signedIn: Page): Promise<Watched> {
  const failing = await openPage(browser, baseUrl, { storageState: await signedIn.context().storageState() })
  await keepIntercepting(failing.page)
  return failing
}

/** Holds the requests until the screen shows that it loads, lets them fail, and then loads the screen again. */
export async function expectFailure(page: Page, screen: ScreenCase, requests: RegExp): Promise<void> {
  const held = Promise.withResolvers<void>()
  await page.route(requests, async (route) => {
    await held.promise
    await route.fulfill(failure)
  })
  await page.goto(`/console${screen.path()}`)
  await page.locator('.loading').first().waitFor()
  held.resolve()
  await page.getByText('It broke.').first().waitFor()
  await page.unroute(requests)
  await loadAgain(page, screen.name, screen.data)
}

/** Problems other than requests that a test let fail. The browser reports each of those. */
export const withoutFailedLoads = (problems: string[]): string[] =>
  problems.filter((problem) => !problem.includes('Failed to load resource'))
