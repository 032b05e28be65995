// The console in Chromium on a real server. Covers sign-in, every screen in each state, the keyboard, and the approval of a draft.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { findInaccessible, launchBrowser, openPage, takePicture, type Watched } from './harness/browser.ts'
import { openKeyField, signInByKey, submitSignIn, waitForShell } from './harness/sign-in.ts'
import { expectAccessible, expectFailure, lookAt, openFailingPage, withoutFailedLoads } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld(), launchBrowser()])
  owner = await openPage(browser, world.baseUrl)
  page = owner.page
  await page.goto(await world.newLink())
  await waitForShell(page)
})
/** An object that a test sends, rejects or deletes may be loaded once more by the event about it. */
const isOfRemoved = (problem: string) => /404 \(Not Found\) .*\/mailboxes\/\w+\/(drafts|messages)\/\w+(\/(versions|review))?$/.test(problem)
afterEach(() => {
  expect(owner.problems.splice(0).filter((problem) => !isOfRemoved(problem))).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await world?.stop()
})

const heading = (name: string | RegExp) => page.getByRole('heading', { name }).first()
const press = (...keys: string[]) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
/** Presses the keys of a sequence in one turn of the page, because the console waits less than a second for the next one. */
const pressAtOnce = (...keys: string[]) =>
  page.evaluate(
    `for (const key of ${JSON.stringify(keys)}) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`,
  )
const picture = (name: string, of = page) => takePicture(of, name)

describe('sign-in', () => {
  test('the one-time link signs in, leaves the address, and works once', async () => {
    const link = await world.newLink()
    const first = await openPage(browser, world.baseUrl)
    await first.page.goto('/console/')
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    // The page is open, so only the fragment changes.
    await first.page.goto(link)
    const confirm = first.page.getByRole('button', { name: /^Sign in to / })
    await confirm.waitFor()
    expect(first.page.url()).toBe(`${world.baseUrl}/console/`)
    expect(await first.page.getByText(/This link signs you in to .+ as its owner\./).isVisible()).toBe(true)
    await confirm.click()
    await first.page.getByRole('navigation', { name: 'Screens' }).waitFor()
    expect(first.page.url()).toBe(`${world.baseUrl}/console/`)
    await first.page.getByRole('button', { name: 'Sign out' }).click()
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(first.problems).toEqual([])
    await first.page.goto(`about:blank`)
    await first.page.goto(link)
    await first.page.getByRole('alert').waitFor()
    expect(await first.page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true)
    await first.close()
  })

  test('an agent key signs in and sees its own mailbox only', async () => {
    const agent = await openPage(browser, world.baseUrl)
    const field = await openKeyField(agent.page)
    await picture('sign-in', agent.page)
    expect(await findInaccessible(agent.page)).toEqual([])
    await field.fill('svc_live_wrong')
    await submitSignIn(agent.page)
    await agent.page.getByRole('alert').waitFor()
    agent.problems.length = 0
    await field.fill(world.travelKey)
    await submitSignIn(agent.page)
    await agent.page.getByText('Booking confirmed').first().waitFor()
    const screens = await agent.page.getByRole('navigation', { name: 'Screens' }).getByRole('link').allInnerTexts()
    expect(screens).toContain('Inbox')
    expect(screens.join()).not.toMatch(/Approvals|Quarantine|Overview/)
    expect(await agent.page.getByText('Shipping 40 units').count()).toBe(0)
    expect(agent.problems).toEqual([])
    await agent.close()
  })
})

/** Screens with a text of each state. */
const screens = [
  { name: 'overview', path: () => '/overview', data: 'draft to approve', empty: 'First steps' },
  { name: 'inbox', path: () => '/inbox', data: 'Shipping 40 units to Norway', empty: 'Create the first identity' },
  { name: 'approvals', path: () => '/approvals', data: 'Reservation for 4 December', empty: 'Nothing waits for you' },
  { name: 'quarantine', path: () => '/quarantine', data: 'Urgent: your account is suspended', empty: 'Nothing in quarantine' },
]

/** The requests that screens wait for. */
const requests = /\/(api\/v1\/(identities|mail\/messages|mailboxes)|console\/api\/overview)/

describe('states of each screen', () => {
  test.each(screens)('$name with data is accessible, in both colour schemes and on a phone', (screen) => expectAccessible(page, screen))

  test('every screen without data shows the calls that change this', async () => {
    const other = await openPage(browser, world.baseUrl)
    await signInByKey(other.page, world.otherOrganization.key)
    for (const { path, empty, name } of screens) {
      await other.page.goto(`/console${path()}`)
      await other.page.getByText(empty).first().waitFor()
      if (name === 'overview') continue
      for (const form of ['curl', 'SDK', 'CLI']) await other.page.getByRole('tab', { name: form }).waitFor()
      await picture(`${name}-empty`, other.page)
    }
    expect(other.problems).toEqual([])
    await other.close()
  })

  test('a slow screen shows that it loads, and a failing one says so and loads again', async () => {
    const failing = await openFailingPage(browser, world.baseUrl, page)
    for (const screen of screens) await expectFailure(failing.page, screen, requests)
    expect(withoutFailedLoads(failing.problems)).toEqual([])
    await failing.close()
  })
})

describe('mail', () => {
  test('new mail appears without loading the page again', async () => {
    await page.goto('/console/inbox')
    await page.getByText('Live', { exact: true }).waitFor()
    await world.deliver({ from: 'Nora <nora@people.example>', to: 'sales@agents.localhost', subject: 'Just arrived', text: 'Hello' })
    await page.getByText('Just arrived').first().waitFor()
  })

  test('a thread folds quotes, shows warnings with evidence, codes and attachments', async () => {
    await page.goto('/console/inbox?mailbox=sales')
    await page.getByRole('link', { name: /Re: Quote 2207/ }).click()
    const open = page.getByRole('region', { name: 'Message', exact: true })
    await open.getByText('Great, we accept the quote.').first().waitFor()
    expect(await open.getByText('12 units at 210 EUR').count()).toBe(0)
    await open.getByRole('button', { name: 'Show quoted text' }).click()
    await open.getByText('12 units at 210 EUR').waitFor()

    await page.goto('/console/inbox?mailbox=support')
    await page
      .getByRole('button', { name: /492816/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: /Printer shows error/ }).click()
    const attachments = open.getByRole('list', { name: 'Attachments' })
    await attachments.getByText('printer.log').waitFor()
    await picture('thread')
    expect(await findInaccessible(page)).toEqual([])
    await attachments.getByRole('listitem').filter({ hasText: 'printer.log' }).getByRole('button', { name: 'Preview' }).click()
    await page.getByText('E-52 ribbon sensor').waitFor()
    await page.keyboard.press('Escape')
    await attachments.getByRole('listitem').filter({ hasText: 'printer.png' }).getByRole('button', { name: 'Preview' }).click()
    await waitFor('the picture', async () => (await page.evaluate("document.querySelector('.attachment-image')?.naturalWidth")) === 1)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: /Can we ship to Norway/ }).click()
    await open.getByText('internal').waitFor()
  })

  test('search finds words, highlights them, and is part of the address', async () => {
    await page.goto('/console/inbox?mailbox=sales')
    await page.getByRole('link', { name: /Shipping 40 units/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('field kit')
    await page.waitForURL((url) => url.searchParams.get('q') === 'field kit')
    await page.locator('mark').first().waitFor()
    await page.goto('/console/inbox?q=from:marta')
    await page.getByText('Printer shows error E-52').waitFor()
    expect(await page.locator('.mail-row').count()).toBe(1)
    const { data } = await world.expectApi(200, 'GET', '/mailboxes/sales/messages?subject=Shipping')
    const tags = [{ name: 'campaign', value: 'spring' }]
    await world.expectApi(200, 'PATCH', `/mailboxes/sales/messages/${data[0].id}`, { body: { tags } })
    await page.goto('/console/inbox?q=tag:campaign:spring')
    await page.getByRole('link', { name: /Shipping 40 units/ }).waitFor()
    expect(await page.locator('.mail-row').count()).toBe(1)
  })

  test('the search takes metadata, and explains a wrong form beside it', async () => {
    const { data } = await world.expectApi(200, 'GET', '/mailboxes/sales/messages?subject=Shipping')
    await world.expectApi(200, 'PATCH', `/mailboxes/sales/messages/${data[0].id}`, { body: { metadata: { 'order number': 4711 } } })
    await page.goto('/console/inbox')
    await page.getByRole('link', { name: /Delivery window/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('metadata:order')
    const problem = page.getByText('metadata:order is not a filter.')
    await problem.waitFor()
    const field = page.getByRole('searchbox', { name: 'Search messages' })
    expect(await field.getAttribute('aria-describedby')).toBe(await problem.getAttribute('id'))
    await lookAt(page, 'inbox-search-problem', () => problem.waitFor())
    await field.fill('metadata:"order number:4711"')
    await problem.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /Shipping 40 units/ }).waitFor()
    expect(await page.locator('.mail-row').count()).toBe(1)
    expect(await field.getAttribute('aria-invalid')).toBe('false')
    await page.keyboard.type(' field kit')
    await page.locator('mark').first().waitFor()
    expect(await page.locator('.mail-row').count()).toBe(1)
    await lookAt(page, 'inbox-metadata')
  })

  test('remote images stay blocked until asked', async () => {
    await page.goto('/console/inbox?mailbox=travel')
    await page.getByRole('link', { name: /Booking confirmed/ }).click()
    await page.frameLocator('iframe[title="Formatted message"]').getByRole('heading', { name: 'Booking confirmed' }).waitFor()
    await page.getByText('1 remote image blocked').waitFor()
    await picture('formatted')
    expect(owner.problems).toEqual([])
    await page.getByRole('button', { name: 'Show images' }).click()
    await waitFor('the request for the image', async () =>
      owner.problems.some((problem) => problem === 'request: https://img.airline.example/logo.png'),
    )
    // The browser reports later that the name has no address.
    await waitFor('the failed request', async () =>
      owner.problems.some((problem) => problem.startsWith('console: Failed to load resource')),
    )
    owner.problems.length = 0
  })

  test('the inspector shows each part of a message', async () => {
    const message = await world.waitForMail('travel', 'Booking confirmed: OSL to BER')
    const tabs = {
      headers: 'Route',
      raw: 'Download as .eml',
      authentication: 'From domain',
      events: 'email.received',
      json: '"thread_id"',
      text: 'Your booking X7QK2P',
    }
    for (const [tab, text] of Object.entries(tabs)) {
      await page.goto(`/console/messages/travel/${message.id}?tab=${tab}`)
      await page.getByText(text).first().waitFor()
      await picture(`inspector-${tab}`)
      expect(await findInaccessible(page)).toEqual([])
    }
    const { data } = await world.expectApi(200, 'GET', '/mailboxes/sales/messages?direction=outbound')
    await page.goto(`/console/messages/sales/${data[0].id}?tab=delivery`)
    await page.getByText('support@agents.localhost').first().waitFor()
    await page.getByText('accepted').first().waitFor()
  })

  test('the inspector of a message without text says so, and each part loads again after a failure', async () => {
    await world.deliver({ from: 'ada@park.example', to: 'travel@agents.localhost', subject: 'Without text', text: '' })
    const { id } = await world.waitForMail('travel', 'Without text')
    const at = (tab: string) => () => `/messages/travel/${id}?tab=${tab}`
    await page.goto(`/console${at('text')()}`)
    await page.getByText('This message has no text').waitFor()
    const failing = await openFailingPage(browser, world.baseUrl, page)
    const parts = [
      { name: 'inspector', path: at('text'), data: 'This message has no text', requests: /\/messages\/msg_\w+$/ },
      { name: 'inspector headers', path: at('headers'), data: 'Route', requests: /\/raw$/ },
      { name: 'inspector source', path: at('raw'), data: 'Download as .eml', requests: /\/raw$/ },
      { name: 'inspector events', path: at('events'), data: 'email.received', requests: /\/api\/v1\/events\?/ },
    ]
    for (const { requests: of, ...part } of parts) await expectFailure(failing.page, part, of)
    expect(withoutFailedLoads(failing.problems)).toEqual([])
    await failing.close()
  })

  test('a draft saves itself, and a change from elsewhere is not overwritten', async () => {
    await page.goto('/console/inbox?mailbox=sales')
    await page.getByRole('link', { name: /Shipping 40 units/ }).waitFor()
    await press('c')
    const composer = page.getByRole('region', { name: 'New message' })
    await composer.getByLabel('To', { exact: true }).fill('ada@park.example')
    await composer.getByLabel('Subject').fill('Written in the console')
    await composer.getByLabel('Text').fill('First words')
    await composer.getByText('Saved as a draft').waitFor()
    const draft = await waitFor('the whole draft', async () => {
      const { drafts } = await world.expectApi(200, 'GET', '/mailboxes/sales/drafts')
      return drafts.find((one: Json) => one.subject === 'Written in the console' && one.text === 'First words')
    })
    expect(draft.to).toEqual(['ada@park.example'])
    await world.expectApi(200, 'PATCH', `/mailboxes/sales/drafts/${draft.id}`, { body: { text: 'Other words' } })
    await composer.getByLabel('Text').fill('My words')
    await composer.getByText('This draft was changed elsewhere').waitFor()
    await picture('conflict')
    expect((await world.expectApi(200, 'GET', `/mailboxes/sales/drafts/${draft.id}`)).text).toBe('Other words')
    await composer.getByRole('button', { name: 'Keep mine' }).click()
    await composer.getByText('Saved as a draft').waitFor()
    await composer.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Sent from sales').waitFor()
    const sent = await waitFor('the sent message', async () => {
      const { data } = await world.expectApi(200, 'GET', '/mailboxes/sales/messages?direction=outbound')
      return data.find((one: { subject: string }) => one.subject === 'Written in the console')
    })
    expect(sent.text.trim()).toBe('My words')
    owner.problems.splice(0, owner.problems.length, ...owner.problems.filter((problem) => !problem.includes('409')))
  })
})

describe('approvals', () => {
  test('a person reads, compares, edits and approves a draft with the keyboard alone', async () => {
    await page.goto('/console/overview')
    await page.getByText('draft to approve').waitFor()
    await pressAtOnce('g', 'a')
    await page.getByText('Reservation for 4 December').first().waitFor()
    await press('j')
    const draft = page.getByRole('article', { name: 'Draft' })
    await draft.getByText('First contact with hotel@adlon.example').waitFor()
    await draft.getByText('Leaves the organization').waitFor()
    await draft.getByRole('button', { name: 'Show the changes' }).focus()
    await press('Enter')
    await draft.locator('ins', { hasText: 'quiet' }).waitFor()
    await picture('approval')
    expect(await findInaccessible(page)).toEqual([])
    await press('e')
    const composer = page.getByRole('region', { name: 'Draft', exact: true })
    const text = composer.getByLabel('Text')
    await text.focus()
    await press('Control+End')
    await page.keyboard.insertText('\nBreakfast included.')
    await composer.getByText('Saved as a draft').waitFor()
    await press('Escape')
    await draft.getByText('Breakfast included.').first().waitFor()
    await draft.getByText('version 3').first().waitFor()
    await page.locator('button:enabled', { hasText: 'Approve and send' }).waitFor()
    await press('a')
    await page.getByText('Approved and sent to hotel@adlon.example').waitFor()
    const { data } = await world.expectApi(200, 'GET', '/mailboxes/travel/messages?direction=outbound')
    expect(data[0]).toMatchObject({ subject: 'Reservation for 4 December', to: ['hotel@adlon.example'] })
    expect(data[0].text).toContain('Breakfast included.')
    await page.getByText('Nothing waits for you').waitFor()
  })

  test('a new draft appears by itself, with a one-time link that can be revoked', async () => {
    await page.goto('/console/approvals')
    await page.getByText('Nothing waits for you').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    const drafts = '/mailboxes/travel/drafts'
    const body = { to: ['ada@park.example'], subject: 'Appears by itself', text: 'Hello' }
    const { id } = await world.expectApi(201, 'POST', drafts, { key: world.travelKey, body })
    await page.getByText('Appears by itself').click()
    await page.getByRole('button', { name: 'Link for one decision' }).click()
    const dialog = page.getByRole('dialog', { name: 'Link for one decision' })
    const link = new URL(String(await dialog.getByText(/^https?:/).textContent()))
    expect(await findInaccessible(page)).toEqual([])
    const decision = await openPage(browser, world.baseUrl, { colorScheme: 'dark' })
    await decision.page.goto(link.pathname)
    await decision.page.getByLabel('Reason for a rejection').waitFor()
    await picture('approval-link-dark', decision.page)
    // Neither the page nor the box is white.
    expect(await decision.page.evaluate("getComputedStyle(document.querySelector('textarea')).backgroundColor")).toBe('rgba(0, 0, 0, 0)')
    expect(await findInaccessible(decision.page, { part: 'scheme' })).toEqual([])
    await decision.close()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The link is no longer valid').waitFor()
    await world.expectApi(200, 'POST', `${drafts}/${id}/reject`, { body: { reason: 'Elsewhere' } })
    await page.getByText('This draft was sent, rejected or deleted').waitFor()
  })

  test('a draft that the agent changed meanwhile is not sent', async () => {
    const drafts = '/mailboxes/travel/drafts'
    const body = { to: ['ada@park.example'], subject: 'Meanwhile', text: 'Old' }
    const { id } = await world.expectApi(201, 'POST', drafts, { key: world.travelKey, body })
    await page.goto(`/console/approvals/travel/${id}`)
    await page.getByRole('article', { name: 'Draft' }).getByText('Old').waitFor()
    await page.locator('button:enabled', { hasText: 'Approve and send' }).waitFor()
    await world.expectApi(200, 'PATCH', `${drafts}/${id}`, { key: world.travelKey, body: { text: 'New' } })
    await press('a')
    await page.getByText('The draft was changed while you read it').waitFor()
    await page.getByRole('article', { name: 'Draft' }).getByText('New').first().waitFor()
    expect((await world.expectApi(200, 'GET', `${drafts}/${id}`)).text).toBe('New')
    owner.problems.splice(0, owner.problems.length, ...owner.problems.filter((problem) => !problem.includes('409')))
  })

  test('on a phone, one link leads to the draft, and a rejection reaches the agent with its reason', async () => {
    const { drafts } = await world.expectApi(200, 'GET', '/mailboxes/travel/drafts')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`/console/approvals/travel/${drafts[0].id}`)
    await page.getByRole('button', { name: 'Reject' }).waitFor()
    await picture('approval-phone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByLabel('Reason').fill('Not this week.')
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Rejected').waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
    const rejected = await waitFor('the event', async () =>
      (await world.eventsOf(drafts[0].id)).find(({ type }) => type === 'draft.rejected'),
    )
    expect(rejected.data).toMatchObject({ reason: 'Not this week.', decided_by: 'member' })
  })
})

describe('quarantine', () => {
  test('with the keyboard, a message is read without anything active and released with its sender allowed', async () => {
    await page.goto('/console/overview')
    await heading('Overview').waitFor()
    await pressAtOnce('g', 'q')
    await page.getByText('Urgent: your account is suspended').first().waitFor()
    await press('j')
    const message = page.getByRole('article', { name: 'Message in quarantine' })
    await message.getByText('Not on the allowlist.').waitFor()
    await message.getByText('Hidden text').waitFor()
    expect(await message.locator('a[href^="http"]').count()).toBe(0)
    await picture('quarantine-open')
    expect(await findInaccessible(page)).toEqual([])
    await press('a')
    await page.getByText('help@micros0ft-login.example is allowed').waitFor()
    await world.waitForMail('billing', 'Urgent: your account is suspended')
    const { data } = await world.expectApi(200, 'GET', '/identities/billing/mail-rules')
    expect(data).toMatchObject([{ action: 'allow', direction: 'inbound', entry: 'help@micros0ft-login.example' }])
  })

  test('a blocked domain is deleted and stays out', async () => {
    await world.deliver({ from: 'Spam <a@spam.example>', to: 'billing@agents.localhost', subject: 'Spam', text: 'Buy' })
    const held = await world.waitForMail('billing', 'Spam', 'quarantined')
    await page.goto(`/console/quarantine/billing/${held.id}`)
    await page.getByRole('button', { name: 'Block spam.example' }).click()
    await page.getByText('spam.example is blocked').waitFor()
    expect((await world.api('GET', `/mailboxes/billing/messages/${held.id}`)).status).toBe(404)
  })
})

describe('the inbox', () => {
  test('runs by the keyboard alone', async () => {
    await page.goto('/console/inbox?mailbox=sales')
    await page.getByRole('link', { name: /Shipping 40 units/ }).waitFor()
    await press('j', 'j')
    await page.locator('.thread-subject').waitFor()
    await press('s')
    await page.locator('.mail-row.open .star.on').waitFor()
    await press('e')
    await page.locator('.mail-row.open:not(.unread)').waitFor()
    await press('k', 'r')
    const reply = page.getByRole('region', { name: 'Reply' })
    await reply.getByLabel('Text').waitFor()
    await page.keyboard.type('We will, thank you.')
    await reply.getByText('Saved as a draft').waitFor()
    await picture('reply')
    await press('Control+Enter')
    await page.getByText('Sent from sales').waitFor()
    await press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Next message').waitFor()
    await picture('shortcuts')
    expect(await findInaccessible(page)).toEqual([])
    await press('Escape')
  })

  test('moves a message to the trash and back, and a thread to the archive, which the inbox leaves out', async () => {
    const subject = 'Feedback on the last call'
    await page.goto('/console/inbox?mailbox=support')
    await page.getByRole('link', { name: new RegExp(subject) }).click()
    await page.locator('.thread-subject', { hasText: subject }).waitFor()
    await press('#')
    await page.getByText('Moved to the trash').waitFor()
    await page.getByRole('link', { name: new RegExp(subject) }).waitFor({ state: 'detached' })
    await page.goto('/console/inbox?mailbox=support&folder=trash')
    await page.getByRole('link', { name: new RegExp(subject) }).waitFor()
    await press('j')
    await page.locator('.thread-subject', { hasText: subject }).waitFor()
    expect(await findInaccessible(page)).toEqual([])
    await picture('trash')
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('The trash is empty').waitFor()
    await page.goto('/console/inbox?mailbox=support')
    await page.getByRole('link', { name: new RegExp(subject) }).click()
    await page.getByRole('button', { name: 'Archive the thread' }).click()
    await page.getByText('Archived').waitFor()
    const { data } = await world.expectApi(200, 'GET', '/threads?agent=support&folder=archive')
    const thread = data.find((one: { subject: string }) => one.subject === subject)
    for (const mailbox of ['mailbox=support', '']) {
      await page.goto(`/console/inbox?${mailbox}`)
      await page.getByRole('link', { name: /Printer shows error/ }).waitFor()
      expect(await page.getByRole('link', { name: new RegExp(subject) }).count()).toBe(0)
    }
    await page.goto('/console/inbox?mailbox=support&folder=archive')
    await page.getByRole('link', { name: new RegExp(subject) }).click()
    await page.getByRole('button', { name: 'To inbox' }).click()
    await page.getByText('Moved to the inbox').waitFor()
    expect((await world.expectApi(200, 'GET', `/threads/${thread.id}`)).folder).toBe('inbox')
  })

  test('renders a few rows of 100,000 messages, per key and per scroll', async () => {
    const small = (await world.expectApi(200, 'GET', '/threads?agent=sales&limit=1')).data[0]
    const many = await openPage(browser, world.baseUrl, { storageState: await page.context().storageState() })
    // The page makes the answers itself, because 100,000 messages take long through the driver of the browser.
    await many.page.addInitScript(`{
      const send = fetch
      globalThis.fetch = async (input, init) => {
        const url = new URL(input, location.href)
        if (!url.pathname.endsWith('/api/v1/threads')) return send(input, init)
        const first = Number(url.searchParams.get('cursor') ?? 0)
        const data = Array.from({ length: 5_000 }, (_, index) => (
          { ...${JSON.stringify(small)}, id: 'thrd_' + (first + index), subject: 'Message ' + (first + index) }
        ))
        const hasMore = first < 95_000
        return Response.json({ object: 'list', data, has_more: hasMore, next_cursor: hasMore ? String(first + 5_000) : null })
      }
    }`)
    await many.page.goto('/console/inbox?mailbox=sales&folder=all')
    await many.page.getByText('Message 0', { exact: true }).waitFor()
    await many.page.evaluate(`(async () => {
      const list = document.querySelector('.mail-list .virtual')
      while (list.scrollHeight < 100_000 * 76) {
        list.scrollTop = list.scrollHeight
        await new Promise((done) => setTimeout(done, 10))
      }
      list.scrollTop = 0
    })()`)
    expect(await many.page.locator('.mail-row').count()).toBeLessThan(60)
    // From the key to the second frame after it, which has been painted.
    const times = (await many.page.evaluate(`(async () => {
      const times = []
      for (let index = 0; index < 30; index++) {
        const start = performance.now()
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
        times.push(performance.now() - start)
      }
      const list = document.querySelector('.mail-list .virtual')
      for (let index = 1; index <= 10; index++) {
        const start = performance.now()
        list.scrollTop = index * 500_000
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
        times.push(performance.now() - start)
      }
      return times
    })()`)) as number[]
    const sorted = times.toSorted((one, other) => one - other)
    const median = sorted[sorted.length >> 1] as number
    console.log(
      `100,000 messages take median ${median.toFixed(0)} ms, slowest ${(sorted.at(-1) as number).toFixed(0)} ms per key or scroll`,
    )
    // Times depend on the machine, so the bound is the number of rows that a key or a scroll renders.
    expect(await many.page.locator('.mail-row').count()).toBeLessThan(60)
    await many.page
      .getByText(/^Message 6\d{4}$/)
      .first()
      .waitFor()
    expect(withoutFailedLoads(many.problems)).toEqual([])
    await many.close()
  })
})
