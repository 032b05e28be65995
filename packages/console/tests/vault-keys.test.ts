// The keys of the vault in Chromium: creating it, changing the key, rotating with an interruption, and recovery codes.
import { Callsign, createMemoryPins } from '@callsign/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findInaccessible, keepIntercepting, launchBrowser } from './harness/browser.ts'
import { enterKey, kdfParams, openVaultPage, unlock, vaultKey } from './harness/vault.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World & { browser: Browser }

beforeAll(async () => {
  const [started, browser] = await Promise.all([startWorld({ isFilled: false }), launchBrowser()])
  world = { ...started, browser }
})
afterAll(async () => {
  await world?.browser.close()
  await world?.stop()
})

/** The unlocked vault of a new organization, with one secret, in a page that is closed after the test. */
async function openRotation() {
  const { key } = await world.createOrganization('an organization with a vault')
  const client = new Callsign({ url: world.baseUrl, apiKey: key, vault: { pins: createMemoryPins() } })
  const { vault } = await client.vault.initialize({ vaultKey, kdfParams, recoveryCodes: 2 })
  await vault.create({ type: 'other', name: 'alarm', payload: { data: '4711' } })
  const { page, close } = await openVaultPage(world, { key })
  onTestFinished(close)
  await keepIntercepting(page)
  await page.goto('/console/vault')
  await unlock(page)
  const read = (path: string) => world.expectApi(200, 'GET', path, { key })
  return { page, read, keyVersion: async (): Promise<number> => (await read('/vault')).key_version }
}

async function readAlarm(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Secrets' }).click()
  await page.getByRole('button', { name: /alarm/ }).click()
  await page.getByRole('button', { name: 'Reveal data' }).click()
  await page.getByText('4711').waitFor()
}

/** Walks through the dialog up to the submission, and returns the new vault key and the recovery codes. */
async function startRotation(page: Page): Promise<{ key: string; codes: string[] }> {
  await page.getByRole('tab', { name: 'Keys', exact: true }).click()
  await page.getByRole('button', { name: 'Rotate the keys' }).click()
  const dialog = page.getByRole('dialog')
  const key = (await dialog.getByLabel('vault key', { exact: true }).textContent()) ?? ''
  await dialog.getByLabel('I have stored the vault key').check()
  await dialog.getByRole('button', { name: 'Next' }).click()
  const codes = await dialog.getByLabel('recovery codes', { exact: true }).locator('li').allTextContents()
  expect(await findInaccessible(page)).toEqual([])
  await dialog.getByLabel('I have stored the recovery codes').check()
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
  return { key, codes }
}

describe('a rotation', () => {
  test('that is cut off before it reaches the server is started again after a reload', async () => {
    const { page, keyVersion } = await openRotation()
    const reached = Promise.withResolvers<void>()
    await page.route('**/vault/rotate', () => reached.resolve())
    await startRotation(page)
    await page.getByRole('progressbar', { name: 'Rotation' }).waitFor()
    await reached.promise
    await page.getByText('Sending to the server').waitFor()
    await page.reload()
    await page.unroute('**/vault/rotate')
    await page.getByText(/This browser started to change the keys and did not see the result/).waitFor()
    expect(await keyVersion()).toBe(1)
    await unlock(page)
    await readAlarm(page)
  })

  test('with a lost answer is recognized by its new key after a reload, and its recovery codes are valid', async () => {
    const { page, keyVersion, read } = await openRotation()
    const done = Promise.withResolvers<void>()
    await page.route('**/vault/rotate', async (route) => {
      await route.fetch({ timeout: 0 })
      done.resolve()
    })
    const { key, codes } = await startRotation(page)
    await done.promise
    await page.reload()
    await page.unroute('**/vault/rotate')
    await page.getByText(/Try the new vault key first/).waitFor()
    expect(await keyVersion()).toBe(2)
    await enterKey(page)
    await page.getByText('This is not the key of the vault.').waitFor()
    await unlock(page, key)
    await readAlarm(page)
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    expect(await page.getByText(/started to change the keys/).count()).toBe(0)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    expect(await findInaccessible(page)).toEqual([])
    await page.getByLabel('Recovery code').fill(codes[2] as string)
    await page.getByRole('tab', { name: 'Choose your own' }).click()
    await page.getByLabel('New vault key', { exact: true }).last().fill('short')
    await page.getByText('The vault key has fewer than 16 characters.').waitFor()
    await page.getByLabel('New vault key', { exact: true }).last().fill('seven plum trees by the river')
    await page.getByLabel('Repeat the vault key').fill('seven plum trees by the rivet')
    await page.getByText('The two keys differ.').waitFor()
    await page.getByLabel('Repeat the vault key').fill('seven plum trees by the river')
    await page.getByRole('button', { name: 'Set the new key and unlock' }).click()
    await readAlarm(page)
    const { data: keys } = await read('/vault/keys')
    expect(keys.map((one: { key_type: string }) => one.key_type)).toEqual(['primary', 'recovery', 'recovery', 'recovery'])
  })

  test('runs to its end, and a recovery code is deleted', async () => {
    const { page } = await openRotation()
    const { key } = await startRotation(page)
    await page.getByText(/The keys are rotated. The vault has key version 2/).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    const table = page.getByRole('table', { name: 'Keys of the vault' })
    await table.getByText('recovery').nth(3).waitFor()
    await table.getByRole('button', { name: 'Delete' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await table.getByText('recovery').nth(3).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Change the vault key' }).click()
    const changed = await page.getByRole('dialog').getByLabel('vault key', { exact: true }).textContent()
    await page.getByLabel('I have stored the vault key').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('The vault key is changed').waitFor()
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await enterKey(page, key)
    await page.getByText('This is not the key of the vault.').waitFor()
    await unlock(page, changed ?? '')
    await readAlarm(page)
  })
})

test('a new vault is created with a generated key, and opens empty', async () => {
  const fresh = await openVaultPage(world, { key: (await world.createOrganization('a new organization')).key })
  await fresh.page.getByRole('link', { name: 'Vault', exact: true }).click()
  await fresh.page.getByRole('heading', { name: 'Create the vault' }).waitFor()
  expect(await findInaccessible(fresh.page)).toEqual([])
  const key = (await fresh.page.getByLabel('vault key', { exact: true }).textContent()) ?? ''
  expect(await fresh.page.getByRole('button', { name: 'Create the vault' }).isDisabled()).toBe(true)
  await fresh.page.getByLabel('I have stored the vault key').check()
  await fresh.page.getByRole('button', { name: 'Create the vault' }).click()
  await fresh.page.getByRole('heading', { name: 'Store the recovery codes' }).waitFor()
  expect(await fresh.page.getByLabel('recovery codes', { exact: true }).locator('li').count()).toBe(4)
  const download = fresh.page.waitForEvent('download')
  await fresh.page.getByRole('button', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toBe('vault-recovery-codes.txt')
  await fresh.page.getByLabel('I have stored the recovery codes').check()
  await fresh.page.getByRole('button', { name: 'Open the vault' }).click()
  await fresh.page.getByRole('heading', { name: 'No secrets yet' }).waitFor()
  for (const form of ['curl', 'SDK', 'CLI']) await fresh.page.getByRole('tab', { name: form }).waitFor()
  await fresh.page.getByRole('button', { name: 'Lock', exact: true }).click()
  await unlock(fresh.page, key)
  expect(fresh.problems).toEqual([])
  await fresh.close()
})
