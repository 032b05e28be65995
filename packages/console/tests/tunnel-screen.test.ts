// The tunnel inspector and the simulator in Chromium: requests as they arrive, replay with changes, and mail from the simulator.
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { findInaccessible, launchBrowser, openPage, takePicture, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page
let origin: Server
let listener: TunnelListener
const order = '{"order":4471,"items":[{"sku":"FK-1","count":8}],"note":"Deliver on Friday"}'
/** Requests that reached the local server. */
const seen: { method: string; url: string; headers: Record<string, unknown>; body: string }[] = []

beforeAll(async () => {
  origin = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      seen.push({
        method: incoming.method as string,
        url: incoming.url as string,
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      })
      response.writeHead(incoming.url === '/missing' ? 404 : 200, { 'content-type': 'application/json' })
      response.end('{"stored":true,"id":4471}')
    })
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  ;[world, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  await world.createAgent('sales')
  const client = new Callsign({ url: world.baseUrl, apiKey: world.organizationKey })
  listener = await client.tunnels.listen('sales', (origin.address() as AddressInfo).port)
  owner = await openPage(browser, world.baseUrl)
  page = owner.page
  await page.goto(await world.newLink())
  await waitForShell(page)
})
afterEach(() => {
  expect(owner.problems.splice(0)).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await listener?.close(0)
  await world?.stop()
  origin?.close()
})

/** Sends one request to the public address. */
const visit = (method: string, path: string, body = '', headers: Record<string, string> = {}) =>
  new Promise<void>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: new URL(world.baseUrl).port, method, path }
    const sent = request({ ...options, headers: { host: 'sales.tunnel.localhost', ...headers } }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(body)
  })
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}

describe('the tunnel inspector', () => {
  test('shows requests as they arrive, with readable bodies, and filters them in the address', async () => {
    await page.goto('/console/tunnels/sales')
    await page.getByText('No requests yet').waitFor()
    for (const path of ['/health', '/orders/4470', '/missing', '/items?page=2']) await visit('GET', path)
    await visit('POST', '/orders', order, {
      'content-type': 'application/json',
      authorization: 'Bearer abcdefgh',
    })
    await page.getByRole('link', { name: /POST \/orders/ }).waitFor()
    await press('j')
    const detail = page.getByRole('article', { name: 'Request' })
    await detail.getByText('"sku": "FK-1"').waitFor()
    await detail.getByText('(masked)').first().waitFor()
    expect(await findInaccessible(page)).toEqual([])
    await takePicture(page, 'tunnel-request')
    await detail.getByRole('tab', { name: 'Response' }).click()
    await detail.getByText('"stored": true').waitFor()
    await page.getByLabel('Answer').selectOption('4')
    await page.getByRole('list', { name: 'Requests' }).getByText('/missing').waitFor()
    expect(await page.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('status')).toBe('4')
  })

  test('replays a request, and sends it with changes, by the keyboard', async () => {
    await page.goto('/console/tunnels/sales?q=orders')
    await page.getByRole('link', { name: /POST \/orders/ }).waitFor()
    await press('j')
    const detail = page.getByRole('article', { name: 'Request' })
    await detail.getByRole('heading', { name: 'POST /orders' }).waitFor()
    const before = seen.length
    await press('r')
    await detail.getByRole('link', { name: 'replay of another' }).waitFor()
    expect(seen.slice(before)).toMatchObject([{ method: 'POST', url: '/orders', body: order }])
    await press('e')
    const dialog = page.getByRole('dialog', { name: 'Edit and replay' })
    await dialog.getByLabel('Method').fill('put')
    await dialog.getByLabel('Path').fill('/orders/4471?test=1')
    await dialog.getByLabel('Headers').fill('Host: sales.tunnel.localhost\nX-Test: yes')
    await dialog.getByLabel('Body').fill('{"order":1}')
    expect(await findInaccessible(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Send' }).click()
    await detail.getByRole('heading', { name: 'PUT /orders/4471?test=1' }).waitFor()
    expect(seen.at(-1)).toMatchObject({ method: 'PUT', url: '/orders/4471?test=1', body: '{"order":1}', headers: { 'x-test': 'yes' } })
  })

  test('says what is kept, and disables a replay that cannot work, with the reason beside it', async () => {
    await page.goto('/console/tunnels/sales')
    await page.getByText('first 64 KB of bodies of the latest 200 requests').waitFor()
    await page
      .getByText(`http://sales.tunnel.localhost:${new URL(world.baseUrl).port}/`)
      .first()
      .waitFor()
    await page.getByLabel('Capture').selectOption('off')
    await page.getByText('They cannot be replayed.').waitFor()
    await visit('GET', '/uncaptured')
    await page.getByRole('link', { name: /GET \/uncaptured/ }).click()
    const detail = page.getByRole('article', { name: 'Request' })
    await detail.getByText('This request was not captured.').waitFor()
    expect(await detail.getByRole('button', { name: /^Replay/ }).isDisabled()).toBe(true)
    expect(await detail.getByRole('button', { name: 'Edit and replay' }).isDisabled()).toBe(false)
    await page.getByLabel('Capture').selectOption('bodies')
    await page.getByText('first 64 KB of bodies').waitFor()
  })

  test('works on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto('/console/tunnels/sales')
    await page
      .getByRole('link', { name: /POST \/orders/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Edit and replay' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.goto('/console/tunnels')
    const list = page.getByRole('table', { name: 'Tunnels' })
    for (const part of [list.getByRole('link', { name: 'sales' }), list.locator('time').first(), list.locator('.copy').first()]) {
      await part.waitFor()
      const box = await part.boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
    }
    await page.goto('/console/identities/sales')
    const inspect = page.getByRole('link', { name: 'Inspect' })
    await inspect.waitFor()
    const box = await inspect.boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
    await page.goto('/console/tunnels/sales')
    await page
      .getByRole('link', { name: /POST \/orders/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Back to the requests' }).click()
    await page.getByLabel('Filter by method or path').waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
  })
})

describe('the simulator', () => {
  test('delivers mail that opens in the inbox', async () => {
    await page.goto('/console/simulator')
    await page.getByLabel('Subject').fill('Simulated question')
    await page.getByRole('button', { name: 'Deliver', exact: true }).click()
    await page.getByText('In the inbox of sales').waitFor()
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.thread-subject', { hasText: 'Simulated question' }).waitFor()
  })

  test('delivers hostile mail, which the thread flags', async () => {
    await page.goto('/console/simulator?tab=hostile')
    await page.getByRole('button', { name: 'Deliver Instructions that readers cannot see' }).click()
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('Hidden text').first().waitFor()
  })

  test('sets a fault and removes it', async () => {
    await page.goto('/console/simulator?tab=faults')
    await page.getByLabel('Step').selectOption('order')
    await page.getByLabel('Fault', { exact: true }).selectOption('timeout')
    await page.getByRole('button', { name: 'Set' }).click()
    await page
      .getByRole('row', { name: /phone order timeout/ })
      .getByRole('button', { name: 'Remove' })
      .click()
    await page.getByText('No fault is pending.').waitFor()
  })
})
