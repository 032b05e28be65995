// Drafts against a small model in memory. Any sequence of operations, and concurrent bursts, answer and end as in the model.
import { htmlToText } from '@callsign/mail/html/text'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

type Fields = {
  to: string[]
  cc: string[]
  bcc: string[]
  subject: string | null
  text: string | null
  html: string | null
  headers: Record<string, string>
}
type Changes = { [K in keyof Fields]?: Fields[K] | string | null }
type ModelDraft = { id: string; version: number; fields: Fields; files: { name: string; content: string }[] }
/** Live drafts, latest change first, and ids of those sent or deleted. */
type Model = { drafts: ModelDraft[]; sent: string[]; deleted: string[]; messages: number }

type Update = { changes: Changes; add: string | null; isDropping: boolean; useAlias: boolean }
type Op =
  | { kind: 'create'; update: Update }
  | { kind: 'update'; pick: number; update: Update; version: 'none' | 'current' | 'stale' }
  | { kind: 'send'; pick: number; overrides: Changes }
  | { kind: 'delete' | 'get'; pick: number }
  | { kind: 'list'; limit: number; offset: number }
  | { kind: 'burst'; pick: number; parts: { kind: 'update' | 'versioned' | 'send' | 'delete'; update: Update }[] }

const empty: Fields = { to: [], cc: [], bcc: [], subject: null, text: null, html: null, headers: {} }

const address = fc.constantFrom('x@example.com', 'Y Z <y@example.com>', 'ö@example.com', '"a b"@example.com')
const addresses = fc.oneof(fc.array(address, { maxLength: 3 }), address, fc.constant(null))
/** Characters of one line: without controls and separators of lines and paragraphs. */
const words = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
const body = fc.oneof(words, fc.constant(null), fc.constant('Some words\r\nof two lines'))
const changes: fc.Arbitrary<Changes> = fc.record(
  {
    to: addresses,
    cc: addresses,
    bcc: addresses,
    subject: fc.option(words),
    text: body,
    html: body,
    headers: fc.option(fc.dictionary(fc.constantFrom('X-A', 'X-B', 'x-c'), fc.constantFrom('1', 'zwö', 'a b'))),
  },
  { requiredKeys: [] },
)
const update: fc.Arbitrary<Update> = fc.record({
  changes,
  add: fc.option(fc.constantFrom('one', 'two', 'three'.repeat(10_000)), { freq: 3 }),
  isDropping: fc.boolean(),
  useAlias: fc.boolean(),
})
const pick = fc.nat({ max: 20 })
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), update }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      pick,
      update,
      version: fc.constantFrom('none' as const, 'current' as const, 'stale' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send' as const), pick, overrides: changes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'get' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('list' as const), limit: fc.integer({ min: 1, max: 5 }), offset: fc.nat({ max: 6 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      pick,
      parts: fc.array(
        fc.record({
          kind: fc.constantFrom(
            'update' as const,
            'versioned' as const,
            'versioned' as const,
            'send' as const,
            'send' as const,
            'delete' as const,
          ),
          update,
        }),
        { minLength: 2, maxLength: 8 },
      ),
    }),
  },
)

const listOf = (value: string | string[] | null): string[] => (value === null ? [] : typeof value === 'string' ? [value] : value)

function applyChanges(fields: Fields, { to, cc, bcc, headers, ...rest }: Changes): Fields {
  const lists = Object.fromEntries(
    Object.entries({ to, cc, bcc }).flatMap(([name, value]) => (value === undefined ? [] : [[name, listOf(value)]])),
  )
  return {
    ...fields,
    ...lists,
    ...(rest as Partial<Fields>),
    ...(headers === undefined ? {} : { headers: (headers ?? {}) as Fields['headers'] }),
  }
}

const isSendable = (fields: Fields): boolean =>
  fields.to.length + fields.cc.length + fields.bcc.length > 0 && Boolean(fields.text || fields.html)

/** Without nulls, which creation and sending do not take. */
const withoutNulls = (given: Changes): Changes => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))

const toBody = (given: Changes, useAlias: boolean): Json => {
  if (!useAlias) return given
  const { text, html, ...rest } = given
  return { ...rest, ...(text === undefined ? {} : { body_text: text }), ...(html === undefined ? {} : { body_html: html }) }
}
const toAttachment = (name: string, content: string) => ({ filename: name, content: Buffer.from(content).toString('base64') })

/** A mailbox with the operations and the model of one run. */
async function startRun(handle: string) {
  await harness.createAgent(handle)
  const base = `/mailboxes/${handle}/drafts`
  const model: Model = { drafts: [], sent: [], deleted: [], messages: 0 }
  const call = (method: string, id: string, given?: Json) => harness.api(method, `${base}${id}`, given === undefined ? {} : { body: given })
  let fileCount = 0

  const idAt = (index: number): string | null => {
    const ids = [...model.drafts.map((draft) => draft.id), ...model.sent, ...model.deleted]
    return ids.length === 0 ? null : (ids[index % ids.length] as string)
  }
  const find = (id: string) => model.drafts.find((draft) => draft.id === id)
  const touch = (draft: ModelDraft) => {
    model.drafts = [draft, ...model.drafts.filter((one) => one.id !== draft.id)]
  }
  const end = (id: string, list: 'sent' | 'deleted') => {
    model.drafts = model.drafts.filter((one) => one.id !== id)
    model[list].push(id)
    if (list === 'sent') model.messages++
  }

  /** The request of an update, and its effect on the model's draft. */
  function planUpdate(draft: ModelDraft | undefined, given: Update, shown: Json | null, version?: number) {
    const name = `file-${++fileCount}`
    const first = given.isDropping ? shown?.attachments[0] : undefined
    const request = {
      ...toBody(given.changes, given.useAlias),
      ...(version === undefined ? {} : { version }),
      ...(given.add === null ? {} : { add_attachments: [toAttachment(name, given.add)] }),
      ...(first ? { remove_attachments: [first.id] } : {}),
    }
    const apply = (before: ModelDraft): ModelDraft => ({
      id: before.id,
      version: before.version + 1,
      fields: applyChanges(before.fields, given.changes),
      files: [
        ...before.files.filter((file) => file.name !== first?.filename),
        ...(given.add === null ? [] : [{ name, content: given.add }]),
      ],
    })
    return { request, apply, draft }
  }

  async function expectShown(shown: Json, draft: ModelDraft): Promise<void> {
    expect(shown).toMatchObject({
      id: draft.id,
      status: 'draft',
      version: draft.version,
      has_attachments: draft.files.length > 0,
      ...draft.fields,
    })
    expect(Object.keys(shown.headers).length).toBe(Object.keys(draft.fields.headers).length)
    expect(shown.attachments.map((one: Json) => [one.filename, one.size_bytes])).toEqual(
      draft.files.map((file) => [file.name, file.content.length]),
    )
  }

  async function expectMessage(id: string, fields: Fields, files: ModelDraft['files']): Promise<void> {
    const message = await harness.getMessage(handle, id)
    const seen = new Set<string>()
    const bare = (list: string[]) =>
      list.map((entry) => /<(.*)>$/.exec(entry)?.[1] ?? entry).filter((entry) => !seen.has(entry) && seen.add(entry))
    expect(message).toMatchObject({
      to: bare(fields.to),
      cc: bare(fields.cc),
      bcc: bare(fields.bcc),
      subject: fields.subject ?? '',
      text: fields.text?.trim() ? fields.text : htmlToText(fields.html ?? ''),
      html: fields.html ?? '',
      headers: fields.headers,
    })
    expect(message.attachments.map((one: Json) => one.filename)).toEqual(files.map((file) => file.name))
    for (const [index, file] of files.entries()) {
      const { pathname, search } = new URL(message.attachments[index].url)
      expect(((await harness.api('GET', pathname + search, { key: null })).body as Buffer).toString()).toBe(file.content)
    }
  }

  const expectCode = (answer: Answer, status: number, code: string) =>
    expect([answer.status, answer.body.error?.code]).toEqual([status, code])

  async function run(step: Op): Promise<void> {
    if (step.kind === 'create') {
      const given = withoutNulls(step.update.changes)
      const files = step.update.add === null ? [] : [{ name: `file-${++fileCount}`, content: step.update.add }]
      const answer = await call('POST', '', {
        ...toBody(given, step.update.useAlias),
        ...(files[0] ? { attachments: [toAttachment(files[0].name, files[0].content)] } : {}),
      })
      expect(answer.status).toBe(201)
      const draft: ModelDraft = { id: answer.body.id, version: 1, fields: applyChanges(empty, given), files }
      touch(draft)
      return expectShown(answer.body, draft)
    }
    if (step.kind === 'list') {
      const { drafts, count, limit, offset } = (await call('GET', `?limit=${step.limit}&offset=${step.offset}`)).body
      expect([count, limit, offset]).toEqual([model.drafts.length, step.limit, step.offset])
      expect(drafts.map((one: Json) => [one.id, one.version])).toEqual(
        model.drafts.slice(step.offset, step.offset + step.limit).map((one) => [one.id, one.version]),
      )
      return
    }
    const id = idAt(step.pick)
    if (id === null) return
    const draft = find(id)
    const isSent = model.sent.includes(id)
    const shown = draft ? (await call('GET', `/${id}`)).body : null
    switch (step.kind) {
      case 'get':
        if (draft) return expectShown(shown, draft)
        return expectCode(await call('GET', `/${id}`), 404, 'not_found')
      case 'delete': {
        const answer = await call('DELETE', `/${id}`)
        if (!draft) return expectCode(answer, 404, 'not_found')
        expect(answer.body).toEqual({ id, deleted: true })
        return end(id, 'deleted')
      }
      case 'update': {
        const version = { none: undefined, current: draft?.version ?? 1, stale: (draft?.version ?? 1) + (step.pick % 2 ? 1 : -1) || 7 }[
          step.version
        ]
        const { request, apply } = planUpdate(draft, step.update, shown, version)
        const answer = await call('PATCH', `/${id}`, request)
        if (!draft) return isSent ? expectCode(answer, 409, 'draft_not_editable') : expectCode(answer, 404, 'not_found')
        if (step.version === 'stale') return expectCode(answer, 409, 'draft_version_conflict')
        expect(answer.status).toBe(200)
        const after = apply(draft)
        touch(after)
        return expectShown(answer.body, after)
      }
      case 'send': {
        const overrides = withoutNulls(step.overrides)
        const { headers: _headers, ...given } = overrides
        const answer = await call('POST', `/${id}/send`, given)
        if (!draft) return isSent ? expectCode(answer, 409, 'draft_send_in_progress') : expectCode(answer, 404, 'not_found')
        const fields = applyChanges(draft.fields, given)
        if (!isSendable(fields)) {
          expectCode(answer, 400, 'draft_incomplete')
          return expectShown((await call('GET', `/${id}`)).body, draft)
        }
        expect([answer.status, answer.body.status]).toEqual([201, 'sent'])
        end(id, 'sent')
        return expectMessage(answer.body.id, fields, draft.files)
      }
      case 'burst':
        if (draft) await runBurst(draft, shown, step)
    }
  }

  /** Sends a burst of concurrent requests. The versions in the answers give the order, and the model follows it. */
  async function runBurst(draft: ModelDraft, shown: Json, { parts }: Extract<Op, { kind: 'burst' }>): Promise<void> {
    const tries = parts.map((part) => {
      // A part must not name attachments that another part drops, so each part keeps the existing attachments.
      const plan = planUpdate(draft, { ...part.update, isDropping: false }, shown, part.kind === 'versioned' ? draft.version : undefined)
      return { part, plan }
    })
    const answers = await Promise.all(
      tries.map(({ part, plan }) => {
        if (part.kind === 'send') return call('POST', `/${draft.id}/send`)
        if (part.kind === 'delete') return call('DELETE', `/${draft.id}`)
        return call('PATCH', `/${draft.id}`, plan.request)
      }),
    )
    const done = tries.map((one, index) => ({ ...one, answer: answers[index] as Answer }))
    const updates = done
      .filter(({ answer }) => answer.status === 200 && answer.body.version !== undefined)
      .toSorted((a, b) => a.answer.body.version - b.answer.body.version)
    const states = [draft]
    for (const { plan, answer, part } of updates) {
      const after = plan.apply(states.at(-1) as ModelDraft)
      await expectShown(answer.body, after)
      if (part.kind === 'versioned') expect(after.version).toBe(draft.version + 1)
      states.push(after)
    }
    const last = states.at(-1) as ModelDraft
    // A burst in which no update succeeds leaves the draft's place in the list.
    if (updates.length > 0) touch(last)
    const ends = done.filter(({ part, answer }) =>
      part.kind === 'send' ? answer.status === 201 : part.kind === 'delete' && answer.status === 200,
    )
    expect(ends.length).toBeLessThanOrEqual(1)
    const sent = ends[0]?.part.kind === 'send'
    const deleted = ends[0]?.part.kind === 'delete'
    for (const { part, answer } of done) {
      if (answer.status < 300) continue
      const code = answer.body.error.code
      const allowed: string[] = deleted ? ['not_found'] : []
      // A send may come where the draft was not complete, or after another.
      if (part.kind === 'send' && states.some((state) => !isSendable(state.fields))) allowed.push('draft_incomplete')
      if (part.kind === 'send' && sent) allowed.push('draft_send_in_progress')
      if (part.kind === 'delete' && sent) allowed.push('not_found')
      if (part.kind === 'versioned' && states.length > 1) allowed.push('draft_version_conflict')
      if ((part.kind === 'update' || part.kind === 'versioned') && sent) allowed.push('draft_not_editable')
      expect(allowed).toContain(code)
    }
    if (ends[0] === undefined) {
      // The draft was not ended, so every plain update succeeded, and one of those with the version if it came first.
      expect(done.every(({ part, answer }) => part.kind !== 'update' || answer.status === 200)).toBe(true)
      const only = done.filter(({ part }) => part.kind === 'versioned' || part.kind === 'update')
      if (only.length > 0 && only.every(({ part }) => part.kind === 'versioned')) expect(updates).toHaveLength(1)
      return expectShown((await call('GET', `/${draft.id}`)).body, last)
    }
    end(draft.id, sent ? 'sent' : 'deleted')
    if (sent) await expectMessage(ends[0].answer.body.id, last.fields, last.files)
  }

  return {
    run,
    /** Checks that every draft, message, attachment and job is in the model. */
    async finish(): Promise<void> {
      const { drafts, count } = (await call('GET', '?limit=100')).body
      expect(count).toBe(model.drafts.length)
      for (const [index, draft] of model.drafts.entries()) await expectShown(drafts[index], draft)
      const listed = await harness.expectApi(200, 'GET', `/mail/messages?agent=${handle}&limit=1`)
      expect(listed.total).toBe(model.messages)
    },
  }
}

test('any sequence of operations and concurrent bursts matches the model', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 25 }), async (steps) => {
      const run = await startRun(`m${++runs}`)
      for (const step of steps) await run.run(step)
      await run.finish()
    }),
    { numRuns: 40, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false, endOnFailure: false },
  )
  expect(runs).toBeGreaterThan(5)
  const left = `SELECT count(*) AS count FROM attachments a LEFT JOIN drafts d ON d.id = a.draft_id WHERE a.draft_id IS NOT NULL AND d.id IS NULL`
  expect((await harness.db.query<{ count: number }>({ text: left })).rows[0]?.count).toBe(0)
})
