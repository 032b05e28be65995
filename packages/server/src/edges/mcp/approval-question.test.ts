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
const linesOf = (given: Partial<Static<typeof DraftReview>>): string[] => approvalQuestion('sales', review(given)).split('\n')
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

  test('cuts each form by itself, so that one does not push the other out', () => {
    const lines = linesOf({ text: 'Hello', html: '<p>…</p>', html_text: 'x'.repeat(5000) })
    expect(lines).toContain(`> ${'x'.repeat(4000)}`)
    expect(lines).toContain('> … The console shows the rest.')
    expect(lines.at(-1)).toBe('> Hello')
  })

  test.each([
    ['without HTML', { text: 'Hello\nyou' }],
    ['with HTML that differs in spaces only', { text: 'Hello\nyou', html: '<p>Hello</p><p>you</p>', html_text: 'Hello\n\n you' }],
  ])('is the text alone %s', (_name, given) => {
    expect(linesOf(given).slice(-3)).toEqual(['', 'Hello', 'you'])
  })
})

describe('an address', () => {
  const long = `${'a'.repeat(400)}@real.example`

  test.each(['From', 'Reply-To', 'To', 'Cc', 'Bcc'])('in %s is never cut, and its name is', (name) => {
    const values = [long, `Boss <${long}>`, `${'b'.repeat(400)} <boss@real.example>`]
    expect(linesOf({ fields: [{ name, values }] })).toEqual(
      expect.arrayContaining([`${name}: ${long}`, `${name}: ${long} (Boss)`, `${name}: boss@real.example (${'b'.repeat(300)}…)`]),
    )
  })

  test('in a warning is never cut, and a subject is', () => {
    const lines = linesOf({
      warnings: [{ code: 'external', text: `Leaves the organization, to ${long}.` }],
      fields: [{ name: 'Subject', values: ['s'.repeat(400)] }],
    })
    expect(lines).toContain(`Warning: Leaves the organization, to ${long}.`)
    expect(lines).toContain(`Subject: ${'s'.repeat(300)}…`)
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
