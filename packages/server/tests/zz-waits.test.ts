import { afterAll, beforeAll, test } from 'vitest'
import { type Attack, longestWait } from './harness/longest-wait.ts'
import { makeOffice, toBombEntry } from './harness/sample-files.ts'
import { type Harness, startHarness } from './harness/start.ts'
let harness: Harness
let otherKey: string
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob', 'heavy', 'plain']) await harness.createAgent(handle)
  otherKey = (await harness.createOrganization('other')).key
  await harness.expectApi(200, 'PATCH', '/identities/heavy', { body: { outbound_guard: 'hold', outbound_guard_patterns: Array.from({ length: 20 }, (_, i) => `a[ab]{900}[cd][ab]{${880 + i}}`) } })
  await harness.expectApi(200, 'PATCH', '/identities/plain', { body: { outbound_guard: 'hold', outbound_guard_patterns: Array.from({ length: 20 }, (_, i) => `project-${i}-[a-z]{4}`) } })
})
afterAll(() => harness?.stop())
const post = (path: string, body: unknown, times = 1): Attack => ({ method: 'POST', path: `/api/v1${path}`, body: JSON.stringify(body), times })
const html = (n: number) => '<p>a <b>b</b> &amp; c</p>\n'.repeat(Math.ceil(n / 25))
async function measure(name: string, attacks: Attack[]) {
  const w = await longestWait(harness, otherKey, attacks)
  console.log(`WAIT ${name}: GET /me ${Math.round(w.waitMs)} ms, turn ${Math.round(w.turnMs)} ms, answers ${[...new Set(w.answers.map((a) => a.status))]}`)
}
test('waits', async () => {
  const m = (agent: string, text: string) => ({ agent, to: ['ada@example.com'], subject: 'x', text })
  await measure('warm', [{ method: 'GET', path: '/api/v1/me', times: 20 }])
  await measure('H1 20 heavy patterns, 60,000 characters', [post('/mail/send', m('heavy', 'ab'.repeat(30_000)))])
  await measure('H1 again', [post('/mail/send', m('heavy', 'ab'.repeat(30_000)), 4)])
  await measure('H1 20 heavy patterns, 1,000,000 characters', [post('/mail/send', m('heavy', 'ab'.repeat(500_000)))])
  await measure('H1 20 ordinary patterns, 1,000,000 characters, 4 at once', [post('/mail/send', m('plain', 'some words '.repeat(90_000)), 4)])
  const slow = makeOffice('docx', {}, [toBombEntry('word/document.xml', { before: '<w:document><w:p><w:r><w:t>', piece: 'a'.repeat(1024 * 1024), times: 400, after: '</w:t></w:r></w:p></w:document>' })])
  const { id } = await harness.send('ann', 'bob@agents.localhost', { attachments: Array.from({ length: 6 }, (_, i) => ({ filename: `a${i}.docx`, content: slow.toString('base64') })) })
  const message = await harness.getMessage('ann', id)
  await measure('M7 six slow files', message.attachments.map((a: { id: string }) => ({ method: 'GET', path: `/api/v1/mailboxes/ann/messages/${id}/attachments/${a.id}/text` })))
  const batch = (n: number) => ({ messages: Array.from({ length: 100 }, () => ({ agent: 'ann', to: ['bob@agents.localhost'], subject: 'x', html: html(n) })) })
  await measure('M8 batch of 100 x 70 KB HTML', [post('/mail/batch', batch(70_000))])
  await measure('M8 batch of 100 x 99 KB HTML', [post('/mail/batch', batch(99_000))])
  await measure('M8 batch of 100 x 390 KB HTML', [post('/mail/batch', batch(390_000))])
  const page = await harness.send('ann', 'bob@agents.localhost', { text: '&\n'.repeat(750_000) })
  const { url } = await harness.expectApi(200, 'POST', `/mailboxes/ann/messages/${page.id}/share`, { body: {} })
  await measure('M8 shared page of 7.5 MB, 4 at once', [{ method: 'GET', path: url, key: null, times: 4 }])
  const raw = await harness.getMessage('ann', page.id)
  await measure('M8 raw of a sent message, 4 at once', [{ method: 'GET', path: raw.raw_url, key: null, times: 4 }])
}, 600_000)
