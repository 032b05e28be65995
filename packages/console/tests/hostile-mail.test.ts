// Hostile mail in Chromium. Each body is shown twice, as the console shows it and without the sanitizer, so that each barrier holds alone.
import { createServer, type Server } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
import { startWorld, type World } from './harness/world.ts'
import { hostileCases } from './hostile-cases.ts'

let world: World
let browser: Browser
let trap: Server
let watched: Watched
/** Connections to the host of any case. */
let caught = 0

beforeAll(async () => {
  trap = createServer((socket) => {
    caught++
    socket.destroy()
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  const { port } = trap.address() as { port: number }
  ;[world, browser] = await Promise.all([
    startWorld({ isFilled: false }),
    launchBrowser([`--host-resolver-rules=MAP *.evil.example 127.0.0.1:${port}`]),
  ])
  await world.createAgent('sales')
  watched = await openPage(browser, world.baseUrl)
  await watched.page.goto(await world.newLink())
  await waitForShell(watched.page)
})
afterAll(async () => {
  await watched?.close()
  await browser?.close()
  await world?.stop()
  trap?.close()
})

const activeElement =
  /<(script|iframe|frame|object|embed|form|input|link|base|svg|math|template|video|audio|noscript|portal|meta http-equiv)\b/i
const activeLink = /href="\s*(javascript|data|vbscript):/i
const activeAttribute = /<[^>]*\s(on\w+|srcset|background|ping)=/i

/** The first part of serialized HTML that does something. Text is escaped there, and values of attributes are cut for the last pattern. */
const findActive = (html: string): string | undefined =>
  (activeElement.exec(html.replace(/"[^"]*"/g, '""')) ?? activeLink.exec(html) ?? activeAttribute.exec(html.replace(/"[^"]*"/g, '""')))?.[0]

/** Goes to an address as a click on a link does. */
const navigate = (path: string) =>
  watched.page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`)

test('the trap catches a connection', async () => {
  const page = await (await browser.newContext()).newPage()
  await page.goto('http://case-0.evil.example/').catch(() => {})
  await page.context().close()
  expect(caught).toBeGreaterThan(0)
  caught = 0
})

test('200 hostile messages show nothing active and request nothing', async () => {
  expect(hostileCases).toHaveLength(200)
  // One message per attack, with its four disguises. The last one turns the rest of the message into text.
  const bodies = Array.from({ length: hostileCases.length / 4 }, (_, index) => hostileCases.slice(index * 4, index * 4 + 4))
  await Promise.all(
    bodies.map((cases, index) => {
      const html = `<p>case ${index}</p>${cases.map((one) => `<div>${one.html}</div>`).join('')}`
      return world.deliver({ from: 'evil@people.example', to: 'sales@agents.localhost', subject: `case ${index}`, text: 'x', html })
    }),
  )
  const messages = await waitFor('every case in the mailbox', async () => {
    const found: Json[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Json = await world.expectApi(200, 'GET', `/mailboxes/sales/messages?limit=100${cursor && `&cursor=${cursor}`}`)
      found.push(...page.data)
      cursor = page.next_cursor
    }
    return found.length === bodies.length && found
  })
  const { page } = watched
  const started = page.url()
  for (const message of messages) {
    await navigate(`/console/messages/sales/${message.id}?tab=formatted`)
    const frame = page.frameLocator('iframe[title="Formatted message"]')
    await frame.getByText(message.subject, { exact: true }).waitFor()
    const shown = await frame.locator('body').innerHTML()
    expect([message.subject, findActive(shown)]).toEqual([message.subject, undefined])
  }
  expect(new URL(page.url()).origin).toBe(new URL(started).origin)
  expect(page.context().pages()).toHaveLength(1)
  expect(watched.problems).toEqual([])
  expect(caught).toBe(0)
})

test('the policy of the frame holds without the sanitizer', async () => {
  const { page } = watched
  await page.evaluate(`(async () => {
    const { session } = await (await fetch('/console/api/state')).json()
    globalThis.showRaw = (html) => new Promise((resolve) => {
      document.getElementById('raw-frame')?.remove()
      document.getElementById('raw-form')?.remove()
      const frame = Object.assign(document.createElement('iframe'), { id: 'raw-frame', name: 'raw-frame' })
      frame.setAttribute('sandbox', 'allow-popups allow-popups-to-escape-sandbox')
      const form = Object.assign(document.createElement('form'), { id: 'raw-form', method: 'post', action: '/console/frame', target: 'raw-frame' })
      for (const [name, value] of Object.entries({ html, images: '0', csrf: session.csrf })) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }))
      }
      document.body.append(frame, form)
      frame.addEventListener('load', () => resolve(), { once: true })
      form.submit()
    })
  })()`)
  const before = page.url()
  for (const { html } of hostileCases) await page.evaluate(`showRaw(${JSON.stringify(html)})`)
  expect(page.url()).toBe(before)
  expect(page.context().pages()).toHaveLength(1)
  // The browser reports each load that the policy blocks, as a console error and as a request. The trap counts those that left.
  expect(watched.problems.filter((problem) => problem.startsWith('exception'))).toEqual([])
  expect(caught).toBe(0)
})
