// The saved vault page in Chromium: it opens from the disk, signs in with an API key, and refuses a script with another hash.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Callsign, createMemoryPins } from '@callsign/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findInaccessible, launchBrowser } from './harness/browser.ts'
import { kdfParams, openVaultPage, readStorage, unlock, vaultKey } from './harness/vault.ts'
import { startWorld, type World } from './harness/world.ts'

const script = '**/console/assets/vault-*.js'
let world: World & { browser: Browser }
let folder: string
let saved: Awaited<ReturnType<typeof openVaultPage>>
let page: Page

beforeAll(async () => {
  const [started, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  world = { ...started, browser }
  const client = new Callsign({ url: world.baseUrl, apiKey: world.organizationKey, vault: { pins: createMemoryPins() } })
  const { vault } = await client.vault.initialize({ vaultKey, kdfParams, recoveryCodes: 0 })
  await vault.create({ type: 'other', name: 'alarm', payload: { data: '4711' } })
  folder = mkdtempSync(join(tmpdir(), 'callsign-loader-'))
  const loader = await fetch(`${world.baseUrl}/console/vault-loader.html`)
  writeFileSync(join(folder, 'vault.html'), await loader.text())
})
afterEach(async () => {
  await saved?.close()
})
afterAll(async () => {
  await world?.browser.close()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const address = () => pathToFileURL(join(folder, 'vault.html')).href

/** Opens the saved page without any cookie of the server. */
async function openSaved(prepare: (of: Page) => Promise<unknown> = async () => undefined): Promise<void> {
  saved = await openVaultPage(world, { state: { cookies: [], origins: [] } })
  page = saved.page
  await prepare(page)
  await page.goto(address())
}

test('the saved page runs the checked script, signs in with a key, and works on the vault', async () => {
  await openSaved()
  await page.getByRole('heading', { name: /^Sign in to / }).waitFor()
  expect(await findInaccessible(page)).toEqual([])
  await page.getByLabel('API key').fill(world.organizationKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await unlock(page)
  await page.getByRole('button', { name: /alarm/ }).click()
  await page.getByRole('button', { name: 'Reveal data' }).click()
  await page.getByText('4711').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Data', { exact: true }).fill('4712')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('alarm is stored').waitFor()
  await page.getByRole('tab', { name: 'Audit' }).click()
  await page.getByText('secret updated').waitFor()
  await page.getByRole('tab', { name: 'Keys', exact: true }).click()
  await page.getByRole('table', { name: 'Keys of the vault' }).waitFor()
  const { local, ...rest } = await readStorage(page).catch(() => ({ local: [], session: 0, databases: 0, caches: 0 }))
  expect(rest).toMatchObject({ session: 0 })
  for (const secret of [vaultKey, world.organizationKey, '4711']) expect(JSON.stringify(local)).not.toContain(secret)
  const servers = [new URL(world.publicUrl).origin, 'null']
  expect(saved.urls.filter((url) => url !== address() && !servers.includes(new URL(url).origin))).toEqual([])
  expect(saved.urls.filter((url) => url.includes('svc_live_') || /[0-9a-f]{64}/.test(url))).toEqual([])
  expect(saved.problems.filter((problem) => !problem.startsWith('request: '))).toEqual([])
})

test('a script that differs by one byte is not run, and both hashes are shown', async () => {
  await openSaved((of) =>
    of.route(script, async (route) => {
      const response = await route.fetch()
      const body = await response.body()
      // The last byte is a line break, so the script would still run.
      await route.fulfill({ response, body: Buffer.concat([body, Buffer.from('\n')]) })
    }),
  )
  await page.getByText(/^Stop: the server sent another script/).waitFor()
  const text = (await page.locator('#app').textContent()) ?? ''
  expect(text).toMatch(/Expected sha384-[A-Za-z0-9+/]{64}Received sha384-[A-Za-z0-9+/]{64}/)
  const [, wanted, received] = /Expected (\S{71})Received (\S{71})/.exec(text) ?? []
  expect(wanted).not.toBe(received)
  expect(await page.getByRole('heading').count()).toBe(0)
  expect(page.workers()).toEqual([])
  expect(saved.urls.filter((url) => url.includes('/api/'))).toEqual([])
})

test('a script that is gone and a server that does not answer are not reported as a changed script', async () => {
  await openSaved((of) => of.route(script, (route) => route.fulfill({ status: 404, headers: { 'access-control-allow-origin': '*' } })))
  await page.getByText(/does not have the script of this page any more. It answered 404/).waitFor()
  await page.unroute(script)
  await page.route(script, (route) => route.abort())
  await page.reload()
  await page.getByText(/^The server did not answer: http/).waitFor()
})

test('other origins than a saved page do not reach the vault with a key', async () => {
  await openSaved((of) =>
    of.route('http://other.localhost/', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>x</title>' })),
  )
  await page.goto('http://other.localhost/')
  const answer = await page.evaluate(
    ([url, key]) =>
      fetch(`${url}/api/v1/vault`, { headers: { Authorization: `Bearer ${key}` } }).then(
        (response) => response.status,
        (error: Error) => error.name,
      ),
    [world.publicUrl, world.organizationKey],
  )
  expect(answer).toBe('TypeError')
})
