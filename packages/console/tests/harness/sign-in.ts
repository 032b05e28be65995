// Signs a page in, and loads a failed screen again.
import type { Page } from 'playwright-core'
import { waitFor } from '../../../server/tests/harness/wait.ts'

/** The field for a key on the sign-in page, which hides it behind a button once members exist. */
export async function openKeyField(page: Page) {
  await page.goto('/console/')
  return showKeyField(page)
}

/** The same on the page that is open, or about to be. */
export async function showKeyField(page: Page) {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const field = page.getByLabel('API key')
  if (!(await field.isVisible())) await page.getByRole('button', { name: 'Use an API key' }).click()
  return field
}

export const submitSignIn = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true }).click()

/** Waits for the shell. A one-time link is confirmed first. */
export async function waitForShell(page: Page): Promise<void> {
  const shell = page.getByRole('navigation', { name: 'Screens' })
  const confirm = page.getByRole('button', { name: /^Sign in to / })
  await shell.or(confirm).first().waitFor()
  if (await confirm.isVisible()) await confirm.click()
  await shell.waitFor()
}

export async function signInByKey(page: Page, key: string): Promise<void> {
  await (await openKeyField(page)).fill(key)
  await submitSignIn(page)
  await waitForShell(page)
}

/** Presses "Try again" until the screen shows this text. */
export const loadAgain = (page: Page, name: string, text: string) =>
  waitFor(`${name} to load again`, async () => {
    if ((await page.getByText(text).filter({ visible: true }).count()) > 0) return true
    const again = page.getByRole('button', { name: 'Try again' }).first()
    // A screen may load again by itself, and one with two queries has two buttons. Each goes away when it is pressed.
    if (await again.isVisible()) await again.click({ timeout: 1000 }).catch(() => {})
    return false
  })
