// The mail screens as a person uses them: typed on the keyboard, clicked where something is visible, and measured where boxes may overlap.
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { instruction, makePdf } from '../../server/tests/harness/sample-files.ts'
import type { Json } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { launchBrowser, openPage, type Watched } from './harness/browser.ts'
import { waitForShell } from './harness/sign-in.ts'
import { lookAt } from './harness/states.ts'
import { startWorld, type World } from './harness/world.ts'

let world: World
let browser: Browser
let owner: Watched
let page: Page

const longText = 'The quarterly report lists every order of the region with its price. '.repeat(12)
const longSubject = 'A subject that is much longer than a row of the list is wide, and that goes on for a while'
const wide = { width: 1440, height: 900 }
const narrow = { width: 390, height: 844 }
const sizes = [wide, narrow]

const newsletter = `<table width="900" style="min-width:900px"><tr><td width="450"><h1>Newsletter</h1>
<img src="https://img.news.example/wide.png" width="880" height="200"><p>${longText}</p></td><td width="450"><pre>${'wide '.repeat(80)}</pre></td></tr></table>`

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld(), launchBrowser()])
  const invoice = await makePdf((file) => file.text(`Invoice 1042. ${instruction}`))
  world.dns.set('news.example', { TXT: ['v=spf1 ip4:127.0.0.0/8 -all'] })
  world.dns.set('_dmarc.news.example', { TXT: ['v=DMARC1; p=reject'] })
  await world.deliver({
    from: 'The Very Long Name Of A Newsletter Department <letters@news.example>',
    to: 'sales@agents.localhost',
    subject: longSubject,
    text: longText,
    html: newsletter,
    attachments: [{ filename: 'invoice.pdf', content: invoice, contentType: 'application/pdf' }],
  })
  const message = await world.waitForMail('sales', longSubject)
  await world.expectApi(200, 'PATCH', `/threads/${message.thread_id}`, { body: { add_labels: ['a-label-of-some-length'] } })
  owner = await openPage(browser, world.baseUrl)
  page = owner.page
  await page.goto(await world.newLink())
  await waitForShell(page)
})
afterEach(async () => {
  await page.setViewportSize(wide)
  // A draft that is sent or discarded may be loaded once more by the event about it.
  expect(owner.problems.splice(0).filter((problem) => !/404 .*\/drafts\/\w+$/.test(problem))).toEqual([])
})
afterAll(async () => {
  await owner?.close()
  await browser?.close()
  await world?.stop()
})

/** Opens a mail by a click on its row. */
async function open(subject: RegExp, path = '/console/inbox?mailbox=sales'): Promise<Json> {
  await page.goto(path)
  await page.getByRole('link', { name: subject }).click()
  await page.locator('.thread-subject', { hasText: subject }).waitFor()
  return (await world.expectApi(200, 'GET', '/threads?limit=50')).data.find((one: Json) => subject.test(one.subject))
}

const threadOf = (id: string): Promise<Json> => world.expectApi(200, 'GET', `/threads/${id}`)
const draftsOf = async (handle = 'sales'): Promise<Json[]> => (await world.expectApi(200, 'GET', `/mailboxes/${handle}/drafts`)).drafts
const composer = (name: string) => page.getByRole('region', { name, exact: true })
const saved = (name: string) => composer(name).getByText('Saved as a draft').waitFor()

/** Every key that does something on its own on the inbox is in it. */
const typed = 'Hey yes, a few more: jkxs #'

describe('typing', () => {
  test.each([
    ['r', 'Reply'],
    ['a', 'Reply'],
  ])('the key %s puts the cursor into the text, and no letter does anything else', async (key, name) => {
    const thread = await open(/Shipping 40 units/)
    await page.keyboard.press(key)
    await page.keyboard.type(typed)
    expect(await composer(name).getByLabel('Text').inputValue()).toBe(typed)
    await saved(name)
    expect(await threadOf(thread.id)).toMatchObject({ folder: 'inbox', unread_count: thread.unread_count })
    expect(page.url()).toContain(thread.id)
    await composer(name).getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText('Draft discarded').waitFor()
    expect(await draftsOf()).toEqual([])
  })

  test.each([
    ['Reply', 'Reply', 'Text'],
    ['Forward', 'Forward', 'To'],
    ['Compose', 'New message', 'To'],
  ])('a click on %s puts the cursor into its first field', async (button, name, field) => {
    const thread = await open(/Shipping 40 units/)
    await page.getByRole('button', { name: new RegExp(`^${button}`) }).click()
    await page.keyboard.type('yes@people.example')
    expect(await composer(name).getByLabel(field, { exact: true }).inputValue()).toBe('yes@people.example')
    // The focus leaves the fields, and the keys still belong to the composer.
    await composer(name).locator('header').click()
    await page.keyboard.type('y e # x j')
    expect(await threadOf(thread.id)).toMatchObject({ folder: 'inbox', unread_count: thread.unread_count })
    expect(page.url()).toContain(thread.id)
    await composer(name).getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText('Draft discarded').waitFor()
  })

  test('no key acts behind a dialog, and the keys work again after it', async () => {
    const thread = await open(/Shipping 40 units/)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.type('ye')
    await page.keyboard.press('Escape')
    expect((await threadOf(thread.id)).folder).toBe('inbox')
    await page.keyboard.press('y')
    await page.getByText('Archived').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Moved to the inbox').waitFor()
  })
})

describe('drafts', () => {
  test('nothing is stored before the first character, and an emptied answer is not kept', async () => {
    await open(/Shipping 40 units/)
    for (let clicks = 0; clicks < 3; clicks++) {
      await page.getByRole('button', { name: /^Reply/ }).click()
      await composer('Reply').getByLabel('To', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await composer('Reply').waitFor({ state: 'detached' })
    }
    expect(await draftsOf()).toEqual([])
    await page.keyboard.press('r')
    await page.keyboard.type('No')
    await saved('Reply')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Escape')
    await waitFor('the empty draft to be gone', async () => (await draftsOf()).length === 0)
  })

  test('a kept answer is in its thread and in its folder, and Reply goes on with it', async () => {
    const thread = await open(/Shipping 40 units/)
    await page.keyboard.press('r')
    await page.keyboard.type('We ship to Norway')
    await saved('Reply')
    expect(await composer('Reply').getByLabel('To', { exact: true }).inputValue()).toBe('Ingrid Solheim <ingrid@nordlys.example>')
    await page.keyboard.press('Escape')
    const card = page.getByRole('article', { name: 'Draft', exact: true })
    await card.getByText('We ship to Norway').waitFor()
    await lookAt(page, 'thread-with-draft', () => card.getByText('We ship to Norway').waitFor())
    await page.keyboard.press('r')
    await composer('Draft').getByLabel('Text').waitFor()
    await page.keyboard.type(' by ferry.')
    await saved('Draft')
    await page.keyboard.press('Escape')
    await card.getByText('We ship to Norway by ferry.').waitFor()
    expect(await draftsOf()).toMatchObject([{ text: 'We ship to Norway by ferry.', thread_id: thread.id }])
    await page.getByRole('link', { name: /^Drafts/ }).click()
    await page.getByRole('heading', { name: 'Drafts', exact: true }).waitFor()
    await page.getByRole('link', { name: /To Ingrid Solheim/ }).click()
    await card.getByText('We ship to Norway by ferry.').waitFor()
    await lookAt(page, 'drafts', () => card.getByText('We ship to Norway by ferry.').waitFor())
    await card.getByRole('button', { name: 'Continue writing' }).click()
    await composer('Draft').getByLabel('Text').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByText('Sent from sales').waitFor()
    expect((await draftsOf()).length).toBe(0)
    await page.getByRole('link', { name: 'Sent', exact: true }).click()
    await page.locator('.mail-row', { hasText: 'Shipping 40 units' }).getByText('simulated', { exact: true }).waitFor()
  })

  test('a new message is kept as a draft of its own, and can be discarded from its folder', async () => {
    await page.goto('/console/inbox?mailbox=sales&folder=drafts')
    await page.getByText('No drafts').waitFor()
    await page.getByRole('button', { name: 'Write a message' }).click()
    await page.keyboard.type('ada@park.example')
    await saved('New message')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: /To ada@park.example/ }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByText('Draft discarded').waitFor()
    await page.getByText('No drafts').waitFor()
  })
})

type Box = { x: number; y: number; width: number; height: number }
const covers = (one: Box, other: Box): boolean =>
  Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x) > 0.5 &&
  Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y) > 0.5

const boxesOf = async (parts: Locator): Promise<Box[]> =>
  (await Promise.all((await parts.all()).map((part) => part.boundingBox()))).filter((box) => box !== null)

describe('the list', () => {
  test('has one row per thread with its count, and counts beside the folders', async () => {
    const [first] = (await world.expectApi(200, 'GET', '/mailboxes/sales/messages?subject=Delivery')).data
    await world.expectApi(201, 'POST', `/mailboxes/sales/messages/${first.id}/reply`, { body: { text: 'Friday it is.' } })
    await page.goto('/console/inbox?mailbox=sales')
    const row = page.locator('.mail-row', { hasText: 'Delivery window' })
    await row.getByText('2 messages').waitFor({ state: 'attached' })
    expect(await row.count()).toBe(1)
    const unread = (await world.expectApi(200, 'GET', '/threads?agent=sales&folder=inbox&is_unread=true&limit=50')).data.length
    await page.getByRole('link', { name: `Inbox ${unread} unread` }).waitFor()
    await row.getByRole('link').click()
    await page.keyboard.press('e')
    await page.getByRole('link', { name: `Inbox ${unread - 1} unread` }).waitFor()
  })

  test.each(sizes)('at $width px no part of a row covers another, and long ones end in an ellipsis', async (size) => {
    await page.setViewportSize(size)
    await page.goto('/console/inbox')
    const rows = page.locator('.mail-row')
    await rows.filter({ hasText: 'A subject that is much' }).waitFor()
    for (const row of await rows.all()) {
      const boxes = await boxesOf(row.locator('.mail-row-line > *'))
      const [frame] = await boxesOf(row)
      for (const [index, box] of boxes.entries()) {
        expect(box.x + box.width).toBeLessThanOrEqual((frame as Box).x + (frame as Box).width)
        for (const other of boxes.slice(index + 1)) expect([box, other, covers(box, other)]).toEqual([box, other, false])
      }
    }
    const cut = await page.evaluate(`(() => {
      const subject = [...document.querySelectorAll('.mail-row-subject')].find((one) => one.textContent.startsWith('A subject that'))
      return subject.scrollWidth > subject.clientWidth && getComputedStyle(subject).textOverflow
    })()`)
    expect(cut).toBe('ellipsis')
  })

  test('each folder has its name as heading, and an empty one a way on', async () => {
    for (const [folder, title] of [
      ['sent', 'Sent'],
      ['archive', 'Archive'],
      ['spam', 'Spam'],
      ['starred', 'Starred'],
    ]) {
      await page.goto(`/console/inbox?mailbox=travel&folder=${folder}`)
      await page.getByRole('heading', { name: title as string, level: 1, exact: true }).waitFor()
      await page.locator('.mail-list .empty').getByRole('button').or(page.locator('.mail-list .empty a')).first().waitFor()
    }
  })

  test('messages are starred and selected threads are archived and labelled by the mouse', async () => {
    await page.goto('/console/inbox?mailbox=support')
    const row = page.locator('.mail-row', { hasText: 'Printer shows error' })
    await row.getByRole('button', { name: 'Star' }).click()
    await row.locator('.star.on').waitFor()
    await page.getByRole('link', { name: 'Starred' }).click()
    await page.getByRole('link', { name: /Printer shows error/ }).waitFor()
    await page.goto('/console/inbox?mailbox=support')
    await row.hover()
    await row.getByRole('checkbox').click()
    await page.getByRole('toolbar', { name: 'Selected messages' }).getByRole('button', { name: 'Archive' }).click()
    await page.getByText('1 thread archived').waitFor()
    await row.waitFor({ state: 'detached' })
  })
})

describe('formatted mail', () => {
  const frame = () => page.frameLocator('iframe[title="Formatted message"]')

  test.each(sizes)('is shown first and fits its pane at $width px', async (size) => {
    await page.setViewportSize(size)
    await open(/A subject that is much/)
    await frame().getByRole('heading', { name: 'Newsletter' }).waitFor()
    const [outer] = await boxesOf(page.locator('.mail-frame iframe'))
    const [pane] = await boxesOf(page.locator('.mail-open'))
    expect((outer as Box).x + (outer as Box).width).toBeLessThanOrEqual((pane as Box).x + (pane as Box).width)
    const inner = page.frames().find((one) => one.name().startsWith('mail-'))
    expect(await inner?.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width)
  })

  test('the choice between text and format, and about remote images, is remembered for a proven sender', async () => {
    await open(/A subject that is much/)
    await page.getByText('1 remote image blocked').waitFor()
    expect(owner.problems).toEqual([])
    await page.getByRole('button', { name: 'Always from this sender' }).click()
    const asked = () => owner.problems.filter((problem) => problem === 'request: https://img.news.example/wide.png').length
    await waitFor('the request for the image', async () => asked() === 1)
    await page.reload()
    await waitFor('the request after the reload', async () => asked() === 2)
    await page.getByRole('button', { name: 'Block for this sender' }).click()
    await page.getByText('1 remote image blocked').waitFor()
    await page.getByRole('button', { name: 'Show as text' }).click()
    await page.reload()
    await page.locator('.mail-text', { hasText: 'The quarterly report' }).waitFor()
    await page.getByRole('button', { name: 'Show formatted' }).click()
    await frame().getByRole('heading', { name: 'Newsletter' }).waitFor()
    // The names of the images have no address, which the browser reports.
    owner.problems.splice(
      0,
      owner.problems.length,
      ...owner.problems.filter((problem) => !/img\.news\.example|Failed to load/.test(problem)),
    )
  })

  test('a sender without proof is shown images once only', async () => {
    await open(/Booking confirmed/, '/console/inbox?mailbox=travel')
    await page.getByRole('button', { name: 'Show images' }).waitFor()
    expect(await page.getByRole('button', { name: 'Always from this sender' }).count()).toBe(0)
  })

  test('a PDF opens in a tab of its own, which does not know the console', async () => {
    await open(/A subject that is much/)
    const file = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem').filter({ hasText: 'invoice.pdf' })
    const [opened] = await Promise.all([page.context().waitForEvent('page'), file.getByRole('button', { name: 'Open' }).click()])
    expect(await opened.evaluate('opener')).toBe(null)
    await opened.close()
  })

  test('the text of a PDF is shown in the page, with warnings about it', async () => {
    await open(/A subject that is much/)
    await page.getByRole('list', { name: 'Attachments' }).getByRole('button', { name: 'Preview' }).click()
    const preview = page.getByRole('dialog', { name: 'invoice.pdf' })
    await preview.getByText('Invoice 1042.').last().waitFor()
    await preview.getByText('Instructions to a model').waitFor()
    await lookAt(page, 'pdf-preview', () => preview.getByText('Invoice 1042.').last().waitFor())
    await page.keyboard.press('Escape')
    await preview.waitFor({ state: 'detached' })
  })

  test('a reviewer reads the text of files in a draft, and why a PDF has none', async () => {
    const file = async (filename: string, content: Buffer, contentType = 'application/pdf') => ({
      filename,
      content_type: contentType,
      content: content.toString('base64'),
    })
    const attachments = [
      await file('offer.pdf', await makePdf((page) => page.text('Offer of 9 apples'))),
      await file('broken.pdf', Buffer.from('%PDF-1.4\n%%EOF')),
      await file('notes.txt', Buffer.from('Notes about 9 apples'), 'text/plain; charset=utf-8'),
    ]
    const body = { to: ['x@example.com'], subject: 'Offer with files', text: 'See the files', attachments }
    const { id } = await world.expectApi(201, 'POST', '/mailboxes/sales/drafts', { body })
    await world.expectApi(200, 'POST', `/mailboxes/sales/drafts/${id}/request-approval`)
    await page.goto(`/console/approvals/sales/${id}`)
    const files = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
    await files.filter({ hasText: 'offer.pdf' }).getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('dialog', { name: 'offer.pdf' }).getByText('Offer of 9 apples').waitFor()
    await page.keyboard.press('Escape')
    await files.filter({ hasText: 'broken.pdf' }).getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('dialog', { name: 'broken.pdf' }).getByText('This attachment is broken').waitFor()
    await page.keyboard.press('Escape')
    await files.filter({ hasText: 'notes.txt' }).getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('dialog', { name: 'notes.txt' }).getByText('Notes about 9 apples').waitFor()
    await page.keyboard.press('Escape')
    // The review would be loaded once more by the event about the deletion.
    await page.goto('/console/inbox?mailbox=sales')
    await world.expectApi(200, 'DELETE', `/mailboxes/sales/drafts/${id}`)
    owner.problems.splice(0, owner.problems.length, ...owner.problems.filter((problem) => !/422 .*\/text/.test(problem)))
  })
})

describe('quarantine', () => {
  test('releasing is not the main action, and a sender whom a rule blocks is not offered to be blocked', async () => {
    await world.expectApi(201, 'POST', '/identities/sales/mail-rules', {
      body: { direction: 'inbound', action: 'block', entry: 'blocked.example' },
    })
    await world.deliver({ from: 'Spam <a@blocked.example>', to: 'sales@agents.localhost', subject: 'Blocked already', text: 'Buy' })
    await world.waitForMail('sales', 'Blocked already', 'quarantined')
    await page.goto('/console/quarantine?mailbox=sales')
    await page.getByRole('link', { name: /Blocked already/ }).click()
    await page.getByText('A rule blocks blocked.example.').waitFor()
    expect(await page.getByRole('button', { name: /^Block/ }).count()).toBe(0)
    expect(await page.locator('.review-actions .primary').count()).toBe(0)
    await lookAt(page, 'quarantine-blocked', () => page.getByText('A rule blocks blocked.example.').waitFor())
    await page.goto('/console/quarantine?mailbox=billing')
    await page.getByRole('link', { name: /Urgent/ }).click()
    await page.getByRole('button', { name: 'Block micros0ft-login.example' }).waitFor()
  })
})

test.each(sizes)('a toast at $width px covers no action', async (size) => {
  await page.setViewportSize(size)
  await open(/Quote 2207/)
  await page.getByRole('button', { name: 'Archive the thread' }).click()
  await page.getByText('Archived').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'To inbox' }).waitFor()
  const [toast] = await boxesOf(page.locator('.toast'))
  for (const box of await boxesOf(page.locator('.main button:visible, .main a.button:visible')))
    expect([toast, box, covers(toast as Box, box)]).toEqual([toast, box, false])
  await page.getByRole('button', { name: 'To inbox' }).click()
  await page.getByText('Moved to the inbox').waitFor()
})

test('an unknown address says so and leads back, and a page of a message has a way back at the left', async () => {
  await page.goto('/console/nowhere')
  await page.getByText('This address does not lead to a screen').waitFor()
  await page.getByRole('link', { name: 'Go to the start' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const { id } = await world.waitForMail('sales', 'Shipping 40 units to Norway')
  await page.goto(`/console/messages/sales/${id}`)
  await page.getByRole('link', { name: 'Back to the inbox' }).waitFor()
  const [back, title] = [
    ...(await boxesOf(page.getByRole('link', { name: 'Back to the inbox' }))),
    ...(await boxesOf(page.getByRole('heading', { level: 1 }))),
  ]
  expect((back as Box).x + (back as Box).width).toBeLessThanOrEqual((title as Box).x)
  await page.getByRole('link', { name: 'Back to the inbox' }).click()
  await page.locator('.thread-subject', { hasText: 'Shipping 40 units' }).waitFor()
})
