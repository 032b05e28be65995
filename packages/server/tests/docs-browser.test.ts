// The documentation in a browser: accessible in both themes and at the width of a phone, readable without JavaScript, and requests that a reader tries.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findInaccessible, launchBrowser, openPage, takePicture } from '../../console/tests/harness/browser.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let browser: Awaited<ReturnType<typeof launchBrowser>>
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await harness?.stop()
})

const shown = ['', '/quick-start', '/mail', '/security', '/configuration', '/api/keys', '/api/errors', '/search?q=webhook']

test.each(['light', 'dark'] as const)('the pages are accessible and have no errors in the %s theme', async (colorScheme) => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl, { colorScheme })
  for (const path of shown) {
    await page.goto(`/docs${path}`)
    expect(await findInaccessible(page), path).toEqual([])
    await takePicture(page, `docs-${colorScheme}${path.replace(/\W+/g, '-')}`)
  }
  expect(problems).toEqual([])
  await close()
})

test('the pages fit a phone, where a button shows the navigation', async () => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl, { viewport: { width: 390, height: 844 } })
  for (const path of shown) {
    await page.goto(`/docs${path}`)
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390)
    await takePicture(page, `docs-phone${path.replace(/\W+/g, '-')}`)
  }
  await expect.poll(() => page.locator('nav').isVisible()).toBe(false)
  await page.locator('label.menu').click()
  await expect.poll(() => page.locator('nav').isVisible()).toBe(true)
  expect(problems).toEqual([])
  await close()
})

test('without JavaScript, pages and the choice of a language work, and parts that need it stay hidden', async () => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl, { javaScriptEnabled: false })
  await page.goto('/docs/mail')
  const first = page.locator('figure.samples').first()
  expect(await first.locator('pre:visible').textContent()).toContain('curl -s')
  await first.locator('label[for="lang-python"]').click()
  expect(await first.locator('pre:visible').textContent()).toContain('from callsign import Callsign')
  expect(await page.locator('.theme').isVisible()).toBe(false)
  await page.fill('header input[type="search"]', 'idempotency')
  await page.press('header input[type="search"]', 'Enter')
  expect(await page.locator('main dt').count()).toBeGreaterThan(3)
  await page.goto('/docs/api/keys')
  expect(await page.locator('.try:visible, .key:visible, .copy').count()).toBe(0)
  expect(problems).toEqual([])
  await close()
})

test('language and theme are remembered, and a choice does not move the page', async () => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl)
  await page.goto('/docs/mail#search')
  const group = page.locator('figure.samples').nth(3)
  const top = () => group.evaluate((element) => element.getBoundingClientRect().top)
  const before = await top()
  await group.locator('label[for="lang-ts"]').click()
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(2)
  await page.locator('.theme').click()
  const theme = await page.locator('html').getAttribute('data-theme')
  await page.goto('/docs/api/keys')
  expect(await page.locator('#lang-ts').isChecked()).toBe(true)
  expect(await page.locator('html').getAttribute('data-theme')).toBe(theme)
  expect(problems).toEqual([])
  await close()
})

test('the search shows places while the reader types, and the keyboard opens one', async () => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl)
  await page.goto('/docs')
  await page.keyboard.press('/')
  await page.keyboard.type('quick start')
  await page.locator('.found a', { hasText: 'Quick start' }).first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/quick-start*')
  expect(problems).toEqual([])
  await close()
})

test('"try it" sends a request with the typed key, which stays in the tab', async () => {
  const { page, problems, close } = await openPage(browser, harness.baseUrl)
  await page.goto('/docs/api/identity-and-caller')
  await page.fill('#try-key', harness.organizationKey)
  const section = page.locator('#getIdentity')
  await section.locator('.try summary').click()
  await section.locator('.try input[name="handle"]').fill('../keys')
  const [refused] = await Promise.all([page.waitForRequest('**/api/v1/identities/**'), section.locator('.try button').click()])
  expect(refused.url()).toBe(`${harness.baseUrl}/api/v1/identities/..%2Fkeys`)
  await section.locator('.try input[name="handle"]').fill('sales')
  const [request] = await Promise.all([page.waitForRequest('**/api/v1/identities/sales'), section.locator('.try button').click()])
  expect(request.headers().authorization).toBe(`Bearer ${harness.organizationKey}`)
  expect(request.headers().cookie).toBeUndefined()
  await section.locator('.try output', { hasText: '200' }).waitFor()
  expect(await section.locator('.try output pre').textContent()).toContain('"agent_handle": "sales"')

  await page.goto('/docs/api/keys')
  expect(await page.inputValue('#try-key')).toBe(harness.organizationKey)
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(harness.organizationKey)
  const other = await page.context().newPage()
  await other.goto(`${harness.baseUrl}/docs/api/keys`)
  expect(await other.inputValue('#try-key')).toBe('')
  // The browser reports the refused request.
  expect(problems.filter((problem) => !problem.includes('404') && !problem.includes('400'))).toEqual([])
  await close()
})

test('"try it" sends a body, and shows an answer as text', async () => {
  const { page, close } = await openPage(browser, harness.baseUrl)
  await page.goto('/docs/api/identity-and-caller')
  await page.fill('#try-key', harness.organizationKey)
  const section = page.locator('#createIdentity')
  await section.locator('.try summary').click()
  await section.locator('.try textarea').fill('{"agent_handle": "tried", "display_name": "<img src=x onerror=alert(1)>"}')
  await section.locator('.try button').click()
  await section.locator('.try output pre').waitFor()
  expect(await section.locator('.try output pre').textContent()).toContain('<img src=x')
  expect(await section.locator('.try output img').count()).toBe(0)
  expect((await harness.expectApi(200, 'GET', '/identities/tried')).agent_handle).toBe('tried')
  await close()
})
