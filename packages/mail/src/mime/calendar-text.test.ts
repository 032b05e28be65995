// Text of calendars.
import { expect, test } from 'vitest'
import { calendarToText } from './calendar-text.ts'
import { parseMessage } from './parse.ts'

const calendar = (...event: string[]) =>
  ['BEGIN:VCALENDAR', 'METHOD:REQUEST', 'BEGIN:VEVENT', ...event, 'END:VEVENT', 'END:VCALENDAR'].join('\n')

const meeting = calendar(
  'DTSTART;TZID=Europe/Berlin:20260105T100000',
  'DTEND;TZID=Europe/Berlin:20260105T110000',
  'SUMMARY:Planning\\, part',
  '  two',
  'LOCATION:Room 5',
  'ORGANIZER;CN="Weber: Ann":mailto:ann@customer.example',
  'DESCRIPTION:Bring the list.\\nThanks',
  'BEGIN:VALARM',
  'DESCRIPTION:Reminder',
  'END:VALARM',
)

test('an event has its summary, time, place, organizer and description', () => {
  expect(calendarToText(meeting)).toBe(
    'Planning, part two\nWhen: 2026-01-05 10:00 to 11:00 (Europe/Berlin)\nWhere: Room 5\nOrganizer: Weber: Ann <ann@customer.example>\n\nBring the list.\nThanks',
  )
})

test('days, times in UTC and cancellations are shown as they are', () => {
  expect(calendarToText(calendar('SUMMARY:Fair', 'DTSTART;VALUE=DATE:20260301', 'DTEND;VALUE=DATE:20260304'))).toBe(
    'Fair\nWhen: 2026-03-01 to 2026-03-04',
  )
  const cancelled = calendar('SUMMARY:Call', 'DTSTART:20260105T100000Z', 'ORGANIZER:mailto:ben@customer.example')
  expect(calendarToText(cancelled.replace('REQUEST', 'CANCEL'))).toBe(
    'Call\nCancelled\nWhen: 2026-01-05 10:00 (UTC)\nOrganizer: ben@customer.example',
  )
})

const mail = (type: string, body: string) =>
  parseMessage(Buffer.from(`From: a@b.example\r\nContent-Type: ${type}\r\n\r\n${body.replaceAll('\n', '\r\n')}`))

test('a message that is only a calendar shows it as text, and keeps the file', () => {
  const found = mail('text/calendar; method=REQUEST; charset=utf-8', meeting)
  expect(found.text).toMatch(/^Planning, part two\nWhen: /)
  expect(found.attachments).toMatchObject([{ filename: 'invite.ics', contentType: 'text/calendar' }])
  expect(found.attachments[0]?.parameters.get('method')).toBe('REQUEST')
  expect(mail('multipart/alternative; boundary=b', `--b\nContent-Type: text/calendar\n\n${meeting}\n--b--`).text).toMatch(/^Planning/)
})

test('a message with words of its own keeps them', () => {
  const body = `--b\nContent-Type: text/plain\n\nPlease come\n--b\nContent-Type: text/calendar\n\n${meeting}\n--b--`
  expect(mail('multipart/alternative; boundary=b', body).text).toBe('Please come')
})

test('a damaged or hostile calendar neither throws nor grows', () => {
  expect(calendarToText('BEGIN:VEVENT\nSUMMARY')).toBe('')
  expect(calendarToText('no calendar')).toBe('')
  expect(calendarToText(`BEGIN:VEVENT\nSUMMARY:${'x'.repeat(100_000)}`).length).toBeLessThan(21_000)
  expect(calendarToText(calendar('SUMMARY:a').repeat(1000)).split('\n\n')).toHaveLength(5)
})
