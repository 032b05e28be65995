// A Chromium for tests, from the npm package that carries one or from the machine, and pages that record everything suspicious.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import bundled from '@sparticuz/chromium'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const options = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update']

/** Starts the browser of the package, and else an installed one. Fails when neither starts. */
export async function launchBrowser(more: string[] = []): Promise<Browser> {
  const failures: string[] = []
  for (const find of [() => bundled.executablePath(), async () => installed.find((path) => existsSync(path)) ?? '']) {
    try {
      const executablePath = await find()
      if (executablePath) return await chromium.launch({ executablePath, headless: true, args: [...options, ...more] })
    } catch (error) {
      failures.push(String(error))
    }
  }
  throw new Error(`No Chromium starts on this machine. On Debian, run apt install chromium. ${failures.join(' ')}`)
}

export type Watched = { page: Page; problems: string[]; close: () => Promise<void> }

/** A page in a context of its own. `problems` gets console errors, exceptions, and requests to other hosts. */
export async function openPage(browser: Browser, baseUrl: string, more: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: baseUrl, reducedMotion: 'reduce', ...more })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const problems: string[] = []
  const host = new URL(baseUrl).host
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('console', (message) => message.type() === 'error' && problems.push(`console: ${message.text()} ${message.location().url}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:', 'about:'].includes(url.protocol) && url.host !== host) problems.push(`request: ${request.url()}`)
  })
  return { page, problems, close: () => context.close() }
}

/** Copies the value that a dialog shows once, which lets the dialog close. */
export async function copyAndClose(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('dialog').locator('.button.primary', { hasText: 'Done' }).click()
}

/**
 * Keeps request interception on for the life of the page, so that a test may remove its routes while the page loads. Chromium does not
 * continue every request that is paused at the moment in which the last route is removed.
 */
export const keepIntercepting = (page: Page) => page.route('**/requested-by-no-page', (route) => route.abort())

/** Rules of axe-core that are run again in the other colour scheme. The size of targets does not depend on it, unless a style is wrong. */
const schemeRules = ['color-contrast', 'target-size']

/** Serious findings of axe-core, as rule and element. `scheme` runs only the rules that depend on the colour scheme. */
export async function findInaccessible(of: Page, { part = 'all' as 'all' | 'scheme' } = {}): Promise<string[]> {
  if (!(await of.evaluate("'axe' in window"))) await of.evaluate(axe.source)
  const runOnly = part === 'scheme' ? schemeRules : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  // The rules of WCAG 2.2 are off unless they are named.
  const options = { runOnly, rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] }
  const result = (await of.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
  }
  return result.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** The folder for pictures, which people look at. Without CALLSIGN_SCREENSHOTS none are taken. */
const pictures = process.env.CALLSIGN_SCREENSHOTS

export async function takePicture(of: Page, name: string): Promise<void> {
  if (pictures) await of.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' })
}
