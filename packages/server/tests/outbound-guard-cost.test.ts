// The outbound guard of one organization delays no request of another, whatever its patterns and texts, and what it leaves out is held.
import { randomBytes } from 'node:crypto'
import { scannedFileBytesMax } from '@callsign/mail/content/secrets/message-search'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowedMs, measureThread } from '../../mail/tests/harness/processor.ts'
import { createLog } from '../src/core/log.ts'
import { createSecretSearcher, type SecretSearcherSettings } from '../src/edges/mail-worker/secret-searcher.ts'
import type { ComposedSearch } from '../src/features/mail/outbound/provider.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const token = `ghp_${randomBytes(18).toString('hex')}`
const heavyPatterns = Array.from({ length: 20 }, (_, index) => `a[ab]{900}[cd][ab]{${880 + index}}`)
const heavyText = 'ab'.repeat(30_000)

describe('on a server', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
    await harness.createAgent('heavy')
    await harness.expectApi(200, 'PATCH', '/identities/heavy', {
      body: { outbound_guard: 'hold', outbound_guard_patterns: heavyPatterns },
    })
  })
  afterAll(() => harness.stop())

  const heavy = { to: ['ada@example.com'], subject: 'Report', text: heavyText }
  const refused = async (path: string, body: Json, key?: string) => {
    const answer = await harness.api('POST', path, { body, ...(key && { key }) })
    expect(answer.body.error).toMatchObject({ code: 'approval_required', message: expect.stringContaining('patterns are too large') })
  }

  test.each<[string, () => Promise<unknown>]>([
    ['a send', () => refused('/mail/send', { agent: 'heavy', ...heavy })],
    ['a batch', () => refused('/mail/batch', { messages: Array.from({ length: 5 }, () => ({ agent: 'heavy', ...heavy })) })],
    [
      'a draft and its changes',
      async () => {
        const { id } = await harness.expectApi(201, 'POST', '/mailboxes/heavy/drafts', { body: heavy })
        for (let count = 0; count < 3; count++)
          await harness.expectApi(200, 'PATCH', `/mailboxes/heavy/drafts/${id}`, { body: { subject: `Report ${count}` } })
        await refused(`/mailboxes/heavy/drafts/${id}/send`, {})
      },
    ],
  ])('%s with large patterns takes less than half a second of the thread that all share, and is held', async (_name, work) => {
    await harness.expectApi(200, 'GET', '/me', { key: harness.otherOrganization.key })
    const { ms } = await measureThread(work)
    expect(ms).toBeLessThan(await allowedMs(500))
  })

  test('a short message of the same agent is searched for its patterns and sent', async () => {
    const { id } = await harness.send('heavy', 'ada@example.com', { text: 'Hello' })
    expect((await harness.getMessage('heavy', id)).flags).toEqual([])
    const found = await harness.api('POST', '/mail/send', {
      body: { agent: 'heavy', ...heavy, text: `${'ab'.repeat(451).slice(0, 901)}c${'ab'.repeat(450)}` },
    })
    expect(found.body.error.message).toContain('matches the pattern')
  })

  test('a draft that is changed while it is inspected is inspected again, so that no other content is sent', async () => {
    await harness.createAgent('racing')
    await harness.expectApi(200, 'PATCH', '/identities/racing', { body: { outbound_guard: 'hold', outbound_guard_patterns: ['never'] } })
    const body = { to: ['ada@example.com'], subject: 'Plain', text: `${'word '.repeat(100_000)}` }
    for (let round = 0; round < 3; round++) {
      const { id } = await harness.expectApi(201, 'POST', '/mailboxes/racing/drafts', { body })
      const path = `/mailboxes/racing/drafts/${id}`
      const [sent, changed] = await Promise.all([
        harness.api('POST', `${path}/send`),
        harness.api('PATCH', path, { body: { text: token } }),
      ])
      if (sent.status === 201) expect((await harness.getMessage('racing', sent.body.id)).text).not.toContain(token)
      else expect(sent.body.error.code).toBe(changed.status === 200 ? 'approval_required' : sent.body.error.code)
    }
  })
})

describe('the searcher', () => {
  const searchers: ReturnType<typeof createSecretSearcher>[] = []
  const open = (settings: Partial<SecretSearcherSettings> = {}) => {
    const searcher = createSecretSearcher({ log: createLog('silent'), threadsMax: 1, ...settings })
    searchers.push(searcher)
    return searcher
  }
  afterAll(() => Promise.all(searchers.map((searcher) => searcher.close())))

  const searchOf = (text: string, patterns: string[] = []): ComposedSearch => ({
    patterns,
    fields: [{ where: 'the text', text, form: 'text' }],
    fileBytes: 0,
    readFiles: async () => [],
  })
  const typesOf = (flags: Json[]) => flags.map(({ type }) => type)

  test('reads a short text here, and a long one or one with patterns on its thread', async () => {
    const searcher = open()
    expect(typesOf(await searcher.search('org_a', searchOf(token)))).toEqual(['api_key'])
    expect(searcher.threads()).toBe(0)
    expect(typesOf(await searcher.search('org_a', searchOf(`${'word '.repeat(20_000)}${token}`)))).toEqual(['api_key'])
    expect(typesOf(await searcher.search('org_a', searchOf('Project Falcon', ['(?i)falcon'])))).toEqual(['custom_pattern'])
    expect(searcher.threads()).toBe(1)
  })

  test('many short texts at once do not add up on the main thread', async () => {
    const searcher = open()
    const found = await Promise.all(Array.from({ length: 5 }, () => searcher.search('org_a', searchOf(`${'word '.repeat(2_000)}${token}`))))
    expect(found.map(typesOf)).toEqual(Array(5).fill(['api_key']))
    expect(searcher.threads()).toBe(1)
  })

  test('gives up at its time limit, and the searches of others are done', async () => {
    const searcher = open({ taskMsMax: 2_000, threadsMax: 2 })
    const slow = searcher.search('org_a', searchOf('ab'.repeat(10_000), heavyPatterns))
    // A thread may need longer than the limit to start.
    await waitFor('the search of another owner', async () =>
      (await searcher.search('org_b', searchOf(token, ['never']))).some(({ type }) => type === 'api_key'),
    )
    expect(await slow).toEqual([{ type: 'not_scanned', reason: expect.stringContaining('was given up'), evidence: '' }])
  })

  test('owners take turns', async () => {
    const searcher = open()
    const order: string[] = []
    const search = (owner: string) =>
      searcher.search(owner, searchOf('ab'.repeat(500), heavyPatterns.slice(0, 2))).then(() => order.push(owner))
    await Promise.all([...Array.from({ length: 6 }, () => search('org_a')), search('org_b')])
    expect(order.indexOf('org_b')).toBeLessThan(3)
  })

  test('leaves out searches above the number that one owner may have waiting', async () => {
    const searcher = open({ searchesPerOwnerMax: 2 })
    const found = await Promise.all(Array.from({ length: 4 }, () => searcher.search('org_a', searchOf('word', ['never']))))
    expect(found.map(typesOf)).toEqual([[], [], ['not_scanned'], ['not_scanned']])
    expect(typesOf(await searcher.search('org_a', searchOf('word', ['never'])))).toEqual([])
  })

  test('reads the files of as many messages as it searches at a time', async () => {
    const searcher = open({ threadsMax: 2 })
    let held = 0
    let most = 0
    const search = async (owner: string) => {
      let own = 0
      const readFiles = async (bytesMax: number) => {
        expect(bytesMax).toBe(scannedFileBytesMax)
        own = bytesMax
        held += own
        most = Math.max(most, held)
        return [{ name: 'a.txt', bytes: Buffer.from(`${'word '.repeat(10_000)}${token}`), isCut: false }]
      }
      const flags = await searcher.search(owner, { ...searchOf('See the file'), fileBytes: scannedFileBytesMax, readFiles })
      held -= own
      return typesOf(flags)
    }
    const found = await Promise.all(Array.from({ length: 40 }, (_, index) => search(`org_${index % 4}`)))
    expect(found).toEqual(Array(40).fill(['api_key']))
    // The next one is read before the caller of a search that is done has noticed.
    expect(most).toBeLessThanOrEqual(4 * scannedFileBytesMax)
  })

  test('rejects with the error of reading, and searches the next message', async () => {
    const searcher = open()
    const lost = { ...searchOf('See the file', ['never']), fileBytes: 10, readFiles: () => Promise.reject(new Error('no such blob')) }
    await expect(searcher.search('org_a', lost)).rejects.toThrow('no such blob')
    await expect(searcher.search('org_a', { ...lost, patterns: [] })).rejects.toThrow('no such blob')
    expect(typesOf(await searcher.search('org_a', searchOf(token, ['never'])))).toEqual(['api_key'])
  })

  test('checks patterns on its thread, each owner up to a number at a time', async () => {
    const searcher = open({ searchesPerOwnerMax: 2 })
    await searcher.findPatternProblem('org_a', ['warm'])
    const { ms } = await measureThread(async () => {
      expect(await searcher.findPatternProblem('org_a', [...heavyPatterns, '('])).toEqual({
        index: 20,
        reason: expect.stringContaining('not valid'),
      })
    })
    expect(ms).toBeLessThan(await allowedMs(50))
    const checks = Array.from({ length: 3 }, () => searcher.findPatternProblem('org_a', heavyPatterns))
    await expect(checks[2]).rejects.toMatchObject({ code: 'rate_limited' })
    expect(await Promise.all(checks.slice(0, 2))).toEqual([null, null])
  })
})
