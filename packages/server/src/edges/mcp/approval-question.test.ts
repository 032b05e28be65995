// The question that a person at a connected app answers, and the messages that are too long for it.
import type { DraftReview } from '@callsign/contract/approvals'
import { HTML_CHARACTERS_MAX } from '@callsign/mail/html/text'
import type { Static } from 'typebox'
import { describe, expect, test } from 'vitest'
import { draftPage } from '../approval/html.ts'
import { approvalQuestion } from './approval-question.ts'

const review = (given: Partial<Static<typeof DraftReview>>): Static<typeof DraftReview> => ({
  draft_id: 'drf_1',
  version: 1,
  agent_handle: 'sales',
  fields: [],
  text: '',
  html: null,
  html_text: null,
  images: [],
  attachments: [],
  warnings: [],
  expires_at: null,
  ...given,
})
const linesOf = (given: Partial<Static<typeof DraftReview>>): string[] => (approvalQuestion('sales', review(given)) ?? '').split('\n')
const htmlLabel = 'Text of the HTML part, which most recipients see:'

describe('the body', () => {
  test('is both forms when they differ, with the HTML first, and no line of it passes for a label', () => {
    const html_text = `Pay 9000 now\u200b\n\nText part:\n${htmlLabel}`
    expect(linesOf({ text: 'Hello', html: '<p>…</p>', html_text }).slice(2)).toEqual([
      '',
      htmlLabel,
      '> Pay 9000 now',
      '> ',
      '> Text part:',
      `> ${htmlLabel}`,
      '',
      'Text part:',
      '> Hello',
    ])
  })

  test('names an HTML part without text beside a text', () => {
    expect(linesOf({ text: 'Hello', html: '<img src="cid:a">', html_text: '' })).toEqual(
      expect.arrayContaining([htmlLabel, '> (no text)', 'Text part:', '> Hello']),
    )
  })

  test.each([
    ['without HTML', { text: 'Hello\nyou' }],
    ['with HTML that differs in spaces only', { text: 'Hello\nyou', html: '<p>Hello</p><p>you</p>', html_text: 'Hello\n\n you' }],
  ])('is the text alone %s', (_name, given) => {
    expect(linesOf(given).slice(-3)).toEqual(['', 'Hello', 'you'])
  })
})

const long = `${'a'.repeat(400)}@real.example`

test.each(['From', 'Reply-To', 'To', 'Cc', 'Bcc'])('an address in %s comes whole before its name', (name) => {
  const values = [long, `Boss <${long}>`, `${'b'.repeat(400)} <boss@real.example>`]
  expect(linesOf({ fields: [{ name, values }] })).toEqual(
    expect.arrayContaining([`${name}: ${long}`, `${name}: ${long} (Boss)`, `${name}: boss@real.example (${'b'.repeat(400)})`]),
  )
})

test('an address in a warning is whole', () => {
  const text = `Leaves the organization, to ${long}, ${long} and ${long}.`
  expect(linesOf({ warnings: [{ code: 'external', text }] })).toContain(`Warning: ${text}`)
})

describe('a message is asked about only when the question shows all of it', () => {
  const file = (filename: string) => ({ filename, content_type: 'text/plain', size_bytes: 1, is_forwarded: false })
  const recipients = (count: number) => Array.from({ length: count }, (_, index) => `${index}@example.com`)

  const field = (name: string, values: string[]) => ({ fields: [{ name, values }] })
  const cases: [string, (n: number) => Partial<Static<typeof DraftReview>>, number][] = [
    ['text', (n) => ({ text: 'x'.repeat(n) }), 4000],
    ['text of the HTML', (n) => ({ text: 'Hello', html: '<p>…</p>', html_text: 'x'.repeat(n) }), 4000],
    ['text beside the HTML', (n) => ({ text: 'x'.repeat(n), html: '<p>…</p>', html_text: 'Hello' }), 4000],
    ['HTML', (n) => ({ html: 'x'.repeat(n), html_text: '' }), HTML_CHARACTERS_MAX],
    ['recipients', (n) => field('Bcc', recipients(n)), 20],
    ['files', (n) => ({ attachments: recipients(n).map(file) }), 20],
    ['subject', (n) => field('Subject', ['s'.repeat(n)]), 993],
    ['header', (n) => field('X-Order', ['s'.repeat(n)]), 993],
    ['name of a header', (n) => field('X'.repeat(n), ['12345678']), 992],
    ['name of a recipient', (n) => field('To', [`${'b'.repeat(n)} <boss@real.example>`]), 978],
    ['name of a file', (n) => ({ attachments: [file('f'.repeat(n))] }), 968],
  ]

  test.each(cases)('by its %s', (_name, given, most) => {
    const question = approvalQuestion('sales', review(given(most)))
    expect(question).not.toBeNull()
    expect(question).not.toContain('console shows the rest')
    expect(approvalQuestion('sales', review(given(most + 1)))).toBeNull()
  })
})

test('HTML that is longer than its text covers is not approved on the page of a link', () => {
  const tooLong = 'The message is too long to approve here.'
  const page = (length: number) => draftPage(review({ text: 'Hello', html: 'x'.repeat(length), html_text: '' }))
  expect(page(HTML_CHARACTERS_MAX + 1)).toContain(tooLong)
  expect(page(HTML_CHARACTERS_MAX + 1)).not.toContain('value="approve"')
  expect(page(HTML_CHARACTERS_MAX)).toContain('value="approve"')
  expect(page(HTML_CHARACTERS_MAX)).not.toContain(tooLong)
})
