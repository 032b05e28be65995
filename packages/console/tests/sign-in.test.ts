// Signing in by password, passkey and OpenID Connect in Chromium, with sessions, members and invitations.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startOidcServer } from '../../server/tests/harness/oidc-server.ts'
import { copyAndClose, findInaccessible, launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { submitSignIn, waitForShell } from './harness/sign-in.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let oidc: Awaited<ReturnType<typeof startOidcServer>>
let browser: Browser
let owner: Watched
const opened: Watched[] = []
const password = 'a long enough password'
const email = 'owner@example.com'

beforeAll(async () => {
  const clientId = 'callsign'
  oidc = await startOidcServer(clientId, 'a secret of the client', () => [`${world.publicUrl}/console/api/sign-in/oidc/callback`])
  const settings = {
    CALLSIGN_OIDC_ISSUER: oidc.issuer,
    CALLSIGN_OIDC_CLIENT_ID: clientId,
    CALLSIGN_OIDC_CLIENT_SECRET: 'a secret of the client',
    CALLSIGN_OIDC_NAME: 'Example ID',
  }
  ;[world, browser] = await Promise.all([startWorld({ isFilled: false, settings }), launchBrowser()])
  owner = await open()
  await owner.page.goto(await world.newLink())
  await waitForShell(owner.page)
})
/** Requests of a page whose session has ended are answered 401. */
function forgiveEndedSessions(): void {
  for (const one of opened) one.problems.splice(0, one.problems.length, ...one.problems.filter((problem) => !problem.includes('401')))
}
afterEach(() => {
  for (const one of opened) expect(one.problems.splice(0)).toEqual([])
})
afterAll(async () => {
  for (const one of opened) await one.close()
  await browser?.close()
  await world?.stop()
  await oidc?.stop()
})

/** A browser of its own at the public URL, which has a host name as passkeys need it. */
async function open(): Promise<Watched> {
  const one = await openPage(browser, world.publicUrl)
  opened.push(one)
  return one
}

const toSignIn = async ({ page }: Watched) => {
  await page.goto('/console/')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

test('a person sets a password, and signs in with it', async () => {
  const { page } = owner
  await page.goto('/console/settings')
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByLabel('Name', { exact: true }).fill('Olga Owner')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('The password is set').waitFor()
  expect(await findInaccessible(page)).toEqual([])

  const other = await open()
  await toSignIn(other)
  await other.page.getByLabel('Email').fill(email)
  await other.page.getByLabel('Password').fill('not the password')
  await submitSignIn(other.page)
  await other.page.getByRole('alert').waitFor()
  // The browser reports the answer 401.
  other.problems.length = 0
  await other.page.getByLabel('Password').fill(password)
  await submitSignIn(other.page)
  await waitForShell(other.page)
  await other.page.getByText('Olga Owner').waitFor()
})

test('a person adds a passkey, signs in with it alone, and removes it', async () => {
  const one = await open()
  const { page } = one
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(await world.newLink())
  await waitForShell(page)
  await page.goto('/console/settings')
  await page.getByLabel('Name of the passkey').fill('Laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('list', { name: 'Passkeys' }).getByText('Laptop').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await waitForShell(page)
  await page.goto('/console/settings')
  await page.getByRole('button', { name: 'Remove Laptop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('The passkey is removed').waitFor()
  await page.getByRole('button', { name: 'Remove Laptop' }).waitFor({ state: 'detached' })
})

test('an invited person signs in through the provider, and a stranger does not', async () => {
  const { page } = owner
  await page.goto('/console/settings?tab=members')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite a person' })
  await dialog.getByLabel('Email').fill('rita@example.com')
  await dialog.getByLabel('Name').fill('Rita Reviewer')
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  await copyAndClose(page)
  await page.getByRole('row', { name: /rita@example.com/ }).waitFor()

  const stranger = await open()
  oidc.setAccount({ sub: 'stranger', email: 'stranger@example.com', email_verified: true })
  await toSignIn(stranger)
  await stranger.page.getByRole('link', { name: 'Continue with Example ID' }).click()
  await stranger.page.getByRole('alert').waitFor()
  const reviewer = await open()
  oidc.setAccount({ sub: 'rita', email: 'rita@example.com', email_verified: true })
  await toSignIn(reviewer)
  await reviewer.page.getByRole('link', { name: 'Continue with Example ID' }).click()
  await waitForShell(reviewer.page)
  await reviewer.page.getByText('Rita Reviewer').waitFor()
  expect(await reviewer.page.getByRole('link', { name: 'Keys' }).count()).toBe(0)
  // Both visited the provider, which is another host.
  for (const one of [stranger, reviewer])
    one.problems.splice(0, one.problems.length, ...one.problems.filter((problem) => !problem.startsWith(`request: ${oidc.issuer}`)))
})

test('an invitation link signs in once, with the role of the invitation, and a new one replaces it', async () => {
  const { page } = owner
  await page.goto('/console/settings?tab=members')
  // A member with a sign-in of the provider gets no link.
  expect(
    await page
      .getByRole('row', { name: /rita@example.com/ })
      .getByRole('button', { name: 'New link' })
      .count(),
  ).toBe(0)
  await page.getByRole('button', { name: 'Invite' }).click()
  const invitation = page.getByRole('dialog')
  await invitation.getByLabel('Email').fill('ivan@example.com')
  await invitation.getByRole('button', { name: 'Make a link' }).click()
  await copyAndClose(page)
  await page
    .getByRole('row', { name: /ivan@example.com/ })
    .getByRole('button', { name: 'New link' })
    .click()
  const link = await page
    .getByRole('dialog', { name: 'Link for the person' })
    .getByText(/#link=/)
    .textContent()
  await copyAndClose(page)
  await page.getByLabel('Role of ivan@example.com').selectOption('operator')
  await page.getByText('The role is changed').waitFor()
  const invited = await open()
  await invited.page.goto(String(link))
  await waitForShell(invited.page)
  await invited.page.getByText('operator', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Remove ivan@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Removed', { exact: true }).waitFor()
  await invited.page.goto('/console/approvals')
  await invited.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  forgiveEndedSessions()
})

test('sessions are listed, ended one by one, and everywhere', async () => {
  const other = await open()
  await other.page.goto(await world.newLink())
  await waitForShell(other.page)
  const { page } = owner
  await page.goto('/console/settings?tab=sessions')
  const rows = page.getByRole('row', { name: /Olga Owner/ })
  await rows.first().waitFor()
  const count = await rows.count()
  expect(count).toBeGreaterThan(1)
  expect(await page.getByText('this one').count()).toBe(1)
  await rows.filter({ hasNotText: 'this one' }).first().getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Signed out', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await other.page.goto('/console/overview')
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  forgiveEndedSessions()
})
