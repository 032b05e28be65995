// The vault page in Chromium on a real server: unlock, secrets, grants, idle lock, and no trace of a key outside the worker.
import { Callsign, createMemoryPins, type UnlockedVault } from '@callsign/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser } from './harness/browser.ts'
import { showKeyField, submitSignIn } from './harness/sign-in.ts'
import { lookAt } from './harness/states.ts'
import { enterKey, kdfParams, openVaultPage, readStorage, unlock, vaultKey } from './harness/vault.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World & { browser: Browser }
let owner: Awaited<ReturnType<typeof openVaultPage>>
let page: Page
/** A second client of the same vault, in Node. */
let other: UnlockedVault

const clientOf = (apiKey: string) => new Callsign({ url: world.baseUrl, apiKey, vault: { pins: createMemoryPins() } })

beforeAll(async () => {
  const [started, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  world = { ...started, browser }
  await world.createAgent('sales', { display_name: 'Sales' })
  await world.createAgent('support', { display_name: 'Support' })
  const made = await clientOf(world.organizationKey).vault.initialize({ vaultKey, kdfParams, recoveryCodes: 1 })
  other = made.vault
  await other.create({ type: 'api_key', name: 'payments', description: 'Live payments', payload: { api_key: 'sk_live_4eC39' } })
  await other.create({ type: 'other', name: 'alarm', payload: { data: '4711' } })
  owner = await openVaultPage(world)
  page = owner.page
  await page.getByRole('link', { name: 'Vault', exact: true }).click()
})
afterEach(() => {
  expect(owner.problems.splice(0)).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await world?.browser.close()
  await world?.stop()
})

describe('a locked vault', () => {
  test('rejects a wrong key and opens with the right one', async () => {
    await page.getByRole('heading', { name: 'Unlock the vault' }).waitFor()
    await lookAt(page, 'vault-locked')
    await enterKey(page, 'another key of sixteen')
    await page.getByText('This is not the key of the vault.').waitFor()
    // The browser reports the 401 of the wrong key.
    owner.problems.splice(0, owner.problems.length, ...owner.problems.filter((problem) => !problem.includes('401')))
    await unlock(page)
    await page.getByRole('button', { name: /payments/ }).waitFor()
  })

  test('says so after too many wrong keys, and how long to wait', async () => {
    const { key } = world.otherOrganization
    await clientOf(key).vault.initialize({ vaultKey, kdfParams, recoveryCodes: 0 })
    const wrong = { key, body: { auth_hash: '0'.repeat(64) } }
    for (let attempt = 0; attempt < 10; attempt++) await world.expectApi(401, 'POST', '/vault/unlock', wrong)
    const locked = await openVaultPage(world, { key })
    await locked.page.goto('/console/vault')
    await enterKey(locked.page)
    await locked.page.getByText(/Too many wrong vault keys were tried\. Wait 1[45] min/).waitFor()
    await locked.close()
  })

  test('loads again after a failure, and shows that it loads', async () => {
    const state = await page.context().storageState()
    const slow = await openVaultPage(world, { state })
    const answer = Promise.withResolvers<void>()
    const body = '{"error":{"code":"internal_error","message":"It broke.","request_id":"req_1"}}'
    await slow.page.route('**/api/v1/vault', async (route) => {
      await answer.promise
      await route.fulfill({ status: 400, contentType: 'application/json', body })
    })
    await slow.page.goto('/console/vault')
    await slow.page.locator('.loading').waitFor()
    answer.resolve()
    await slow.page.getByText('It broke.').waitFor()
    await slow.page.unroute('**/api/v1/vault')
    await slow.page.getByRole('button', { name: 'Try again' }).click()
    await slow.page.getByRole('heading', { name: 'Unlock the vault' }).waitFor()
    await slow.close()
  })

  test('stops when the server presents another vault, before anything of the key is sent', async () => {
    const changed = await openVaultPage(world, { state: await page.context().storageState() })
    await changed.page.route('**/api/v1/vault', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), id: 'vlt_01hzx3jq7v8k9m2n4p6r8t0w1y' } })
    })
    await changed.page.goto('/console/vault')
    await enterKey(changed.page)
    await changed.page.getByText(/The vault is another vault than this client has seen before/).waitFor()
    expect(await changed.page.getByRole('checkbox', { name: /Trust it as it is now/ }).isVisible()).toBe(true)
    expect(changed.urls.filter((url) => url.endsWith('/vault/unlock'))).toEqual([])
    await changed.close()
  })

  test('is for signed-in people', async () => {
    const stranger = await openVaultPage(world, { state: { cookies: [], origins: [] } })
    await stranger.page.goto('/console/vault')
    await stranger.page.getByRole('heading', { name: 'Sign in to the console first' }).waitFor()
    await stranger.page.getByRole('link', { name: 'Sign in' }).click()
    await (await showKeyField(stranger.page)).fill(world.organizationKey)
    await submitSignIn(stranger.page)
    await stranger.page.getByRole('heading', { name: 'Unlock the vault' }).waitFor()
    expect(stranger.problems).toEqual([])
    await stranger.close()
  })
})

describe('a person', () => {
  test('stores a login with a generated password, searches it, and reveals it', async () => {
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByLabel('Name', { exact: true }).fill('GitHub')
    await page.getByLabel('Description').fill('The bot account')
    await page.getByLabel('User name').fill('callsign-bot')
    await page.getByRole('button', { name: 'Generate' }).click()
    const password = (await page.getByLabel('Generated password').textContent()) ?? ''
    expect(password).toMatch(/^[!-~]{24}$/)
    await lookAt(page, 'vault-form')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByLabel('One-time password secret (optional)').fill('otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'GitHub' }).waitFor()
    await other.refresh()
    expect((await other.get('GitHub')).payload).toMatchObject({ username: 'callsign-bot', password })
    await page.getByLabel('Search', { exact: true }).fill('bot acc')
    await page.getByRole('button', { name: /payments/ }).waitFor({ state: 'detached' })
    expect(await page.getByText(password).count()).toBe(0)
    await page.getByRole('button', { name: 'Reveal password' }).click()
    await page.getByText(password, { exact: true }).waitFor()
    await page.getByLabel('One-time password', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Readers' }).getByText('No agent.').waitFor()
    await lookAt(page, 'vault-secret')
    await page.getByLabel('Search', { exact: true }).fill('')
  })

  test('stores every type of secret', async () => {
    const types: [string, Record<string, string>][] = [
      ['api_key', { 'API key': 'k1' }],
      ['key_pair', { 'Access key': 'AK', 'Secret key': 'SK' }],
      ['ssh_key', { 'Private key': 'PEM' }],
      ['other', { Data: 'text' }],
    ]
    for (const [type, members] of types) {
      await page.getByRole('button', { name: 'New secret' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Type').selectOption(type)
      await dialog.getByLabel('Name', { exact: true }).fill(`a ${type}`)
      for (const [label, value] of Object.entries(members)) await dialog.getByLabel(label, { exact: true }).fill(value)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { name: `a ${type}` }).waitFor()
    }
    await other.refresh()
    expect((await other.get('a key_pair')).payload).toEqual({ access_key: 'AK', secret_key: 'SK' })
    await page.getByRole('article', { name: 'a other' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: /^a other/ }).waitFor({ state: 'detached' })
    await other.refresh()
    expect(other.list().map(({ name }) => name)).not.toContain('a other')
  })

  test('is asked when another client has changed the secret in the meantime', async () => {
    await page.getByRole('button', { name: /payments/ }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await other.update('payments', { payload: { api_key: 'sk_live_theirs' } })
    await dialog.getByLabel('API key', { exact: true }).fill('sk_live_mine')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/Someone else has changed this secret/).waitFor()
    owner.problems.splice(0, owner.problems.length, ...owner.problems.filter((problem) => !problem.includes('409')))
    await dialog.getByRole('button', { name: 'Show their version' }).click()
    await expect.poll(() => dialog.getByLabel('API key', { exact: true }).inputValue()).toBe('sk_live_theirs')
    await dialog.getByLabel('API key', { exact: true }).fill('sk_live_both')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await other.refresh()
    expect((await other.get('payments')).payload).toEqual({ api_key: 'sk_live_both' })
  })

  test('grants a secret to an agent, whose key then sees that one alone', async () => {
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.getByLabel('sales can read payments').check()
    await page.getByText('sales can read payments', { exact: true }).waitFor()
    await lookAt(page, 'vault-access')
    expect((await other.grants('payments')).map(({ agent_handle: handle }) => handle)).toEqual(['sales'])
    const agentKey = { name: 'Sales', type: 'agent', agent_handle: 'sales', scopes: ['vault:read'] }
    const { key } = await world.expectApi(201, 'POST', '/keys', { body: agentKey })
    const agent = await openVaultPage(world, { key })
    await agent.page.getByRole('link', { name: 'Vault', exact: true }).click()
    await unlock(agent.page)
    await agent.page.getByRole('button', { name: /payments/ }).click()
    await agent.page.getByRole('button', { name: 'Reveal api key' }).click()
    await agent.page.getByText('sk_live_both').waitFor()
    expect(await agent.page.getByRole('list', { name: 'Secrets' }).getByRole('listitem').count()).toBe(1)
    expect(await agent.page.getByRole('tab').allTextContents()).toEqual(['Secrets', 'Keys'])
    expect(await agent.page.getByRole('button', { name: 'Edit' }).count()).toBe(0)
    expect(agent.problems).toEqual([])
    await agent.close()
    await page.getByLabel('sales can read payments').uncheck()
    await page.getByText('sales can no longer read payments').waitFor()
    expect(await other.grants('payments')).toEqual([])
  })

  test('reads the audit log of the vault', async () => {
    await page.getByRole('tab', { name: 'Audit' }).click()
    const table = page.getByRole('table', { name: 'Access to the vault' })
    for (const action of ['unlocked', 'unlock failed', 'secret created', 'access granted']) await table.getByText(action).first().waitFor()
    await lookAt(page, 'vault-audit')
  })
})

describe('time', () => {
  test('the one-time password is that of RFC 6238 for the current second', async () => {
    const fixed = await openVaultPage(world, { state: await page.context().storageState() })
    await fixed.page.clock.setFixedTime(59_000)
    await fixed.page.goto('/console/vault')
    await unlock(fixed.page)
    await fixed.page.getByRole('button', { name: /GitHub/ }).click()
    expect(await fixed.page.getByLabel('One-time password', { exact: true }).textContent()).toBe('9428 7082')
    expect(fixed.problems).toEqual([])
    await fixed.close()
  })

  test('hides a value, empties the clipboard, and locks the vault without use and while hidden', async () => {
    const timed = await openVaultPage(world, { state: await page.context().storageState() })
    await timed.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await timed.page.clock.install({ time: 1_800_000_000_000 })
    await timed.page.goto('/console/vault')
    await unlock(timed.page)
    await timed.page.getByRole('button', { name: /GitHub/ }).click()
    const code = timed.page.getByLabel('One-time password', { exact: true })
    const first = await code.textContent()
    await timed.page.clock.fastForward(30_000)
    await expect.poll(() => code.textContent()).not.toBe(first)
    const clipboard = () => timed.page.evaluate('navigator.clipboard.readText()')
    await timed.page.getByRole('button', { name: /alarm/ }).click()
    await timed.page.getByRole('button', { name: 'Reveal data' }).click()
    await timed.page.getByText('4711').waitFor()
    await timed.page.getByRole('button', { name: 'Copy data' }).click()
    await timed.page.getByText('Copied the data.').waitFor()
    expect(await clipboard()).toBe('4711')
    await timed.page.clock.fastForward(30_000)
    await timed.page.getByText('4711').waitFor({ state: 'detached' })
    await expect.poll(clipboard).toBe('')
    await timed.page.clock.fastForward(3 * 60_000 + 45_000 + 30_000)
    await timed.page.getByText('The vault locks in less than 30 seconds.').waitFor()
    await timed.page.clock.fastForward(30_000)
    await timed.page.getByText('The vault was locked after 5 minutes without use.').waitFor()
    await unlock(timed.page)
    await timed.page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
    await timed.page.clock.fastForward(61_000)
    await timed.page.getByText('The vault was locked because the page was hidden for a minute.').waitFor()
    expect(timed.problems).toEqual([])
    await timed.close()
  })
})

test('the keyboard alone finds, opens and locks', async () => {
  await page.getByRole('tab', { name: 'Secrets' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('alarm')
  await page.getByRole('button', { name: /payments/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'alarm' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Enter')
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'a ssh_key' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'alarm' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Lock the vault').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  await page.getByText('The vault is locked.').waitFor()
  expect(await page.getByText('alarm').count()).toBe(0)
})

test('nothing of a key or a secret is stored, in an address, or sent to another host', async () => {
  const { local, ...rest } = await readStorage(page)
  expect(rest).toEqual({ session: 0, databases: 0, caches: 0 })
  expect(local.map(([name]) => name.split(' ')[0]).toSorted()).toEqual(['callsign-theme', 'callsign-vault-pins'])
  const kept = JSON.stringify([local, await page.context().cookies()])
  const { kdf_salt: salt } = await world.expectApi(200, 'GET', '/vault')
  expect(kept).toContain(salt)
  for (const secret of [vaultKey, 'sk_live', 'callsign-bot', 'payments']) expect(kept).not.toContain(secret)
  const hosts = new Set(owner.urls.map((url) => new URL(url).host))
  expect([...hosts]).toEqual([new URL(world.baseUrl).host])
  // A hash of the key has 64 hexadecimal digits.
  expect(owner.urls.filter((url) => /[0-9a-f]{64}/i.test(url) || decodeURIComponent(url).includes(vaultKey))).toEqual([])
  expect(owner.urls.some((url) => url.endsWith('/vault/unlock'))).toBe(true)
})
