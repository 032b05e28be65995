// The OpenAPI document by an independent validator, and the reference pages that are made from it.
import { createHash } from 'node:crypto'
import { operations } from '@callsign/contract'
import { openApiDocument } from '@callsign/contract/openapi'
import { operation } from '@callsign/contract/operation'
import { operationDetails } from '@callsign/contract/reference/details'
import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { llmsFullText } from '../src/edges/api/reference/llms.ts'
import { createReference } from '../src/edges/api/reference/pages.ts'
import { startEdge } from './harness/api-edge.ts'

const document = openApiDocument({ serverUrl: 'https://callsign.example', version: '1.2.3' }, operations)

test('the document of the whole contract is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect(result).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('every operation is in it, with its errors, its parameters and its key', () => {
  for (const { id, path, method, idempotent, open, params } of operations) {
    const entry = document.paths[path]?.[method.toLowerCase()]
    expect(entry?.operationId).toBe(id)
    expect(entry?.security).toEqual(open ? [] : undefined)
    expect(Object.keys(entry?.responses ?? {})).toEqual(
      expect.arrayContaining(open ? ['400', '500', '503'] : ['400', '401', '403', '429', '500', '503']),
    )
    expect(JSON.stringify(entry?.parameters ?? []).includes('IdempotencyKey')).toBe(idempotent === true)
    for (const name of Object.keys(params?.properties ?? {}))
      expect(entry?.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true }))
  }
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((entry) => entry.operationId))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('getReadiness')
})

test('every reference resolves, and named schemas occur once', () => {
  const text = JSON.stringify(document)
  for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    expect(document.components[kind as 'schemas'][name as string], `${kind}/${name}`).toBeDefined()
  }
  expect(text).not.toContain('"$id"')
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(['Error', 'Identity', 'Message', 'Attachment']))
})

test('two schemas of one name are refused', () => {
  const shape = (id: string, reply: Type.TObject) =>
    operation({ id, method: 'GET', path: `/${id}`, summary: 'A.', tag: 'A', scopes: [], status: 200, reply })
  const twice = [shape('a', Type.Object({ a: Type.String() }, { $id: 'A' })), shape('b', Type.Object({ b: Type.String() }, { $id: 'A' }))]
  expect(() => openApiDocument({ serverUrl: 'http://a', version: '1' }, twice)).toThrow('two schemas have the $id A')
})

test('the pages escape everything that comes from the document or the search', () => {
  const nasty = operation({
    id: 'nasty',
    method: 'GET',
    path: '/nasty',
    summary: `<script>alert("x")</script> & '`,
    tag: '<b>Tag</b>',
    scopes: [],
    query: Type.Object({ q: Type.Optional(Type.String({ description: '<img src=x onerror=alert(1)>', pattern: '^<i>$' })) }),
    status: 200,
    reply: Type.Object({ '<u>': Type.Literal('<s>') }, { $id: 'Nasty' }),
  })
  const reference = createReference(openApiDocument({ serverUrl: 'http://a/"><script>', version: '<v>' }, [nasty]))
  const texts = ['', 'b-tag-b', 'schemas', 'search'].map((name) => reference.page(name, { q: '"><img src=x>', lang: '"><script>' }) ?? '')
  for (const text of texts) {
    expect(text.length).toBeGreaterThan(500)
    expect(text).not.toMatch(/<(script|b|i|u|s|v|img)\b/)
  }
  expect(texts[1]).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;')
})

const reference = createReference(document)
const names = ['', 'event-types', 'errors', 'schemas', ...document.tags.map(({ name }) => name.toLowerCase().replaceAll(' ', '-'))]

test('every resource has a page with its operations, and every link leads somewhere', () => {
  const pages = new Map([...names, 'search'].map((name) => [name, reference.page(name, { q: 'message', lang: 'cli' }) ?? '']))
  const shown = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  for (const { operationId, tags, description, 'x-codeSamples': samples } of shown) {
    const page = pages.get((tags[0] as string).toLowerCase().replaceAll(' ', '-')) ?? ''
    expect(page).toContain(`<section id="${operationId}">`)
    expect(Boolean(description && samples) || tags[0] === 'Health', operationId).toBe(true)
  }
  for (const [name, page] of pages) {
    expect(page).not.toMatch(/<script|\[object|undefined/)
    for (const [, path = '', , anchor] of page.matchAll(/href="([^"#?]*)(\?lang=\w+)?(?:#([^"]+))?"/g)) {
      if (path === '/openapi.json') continue
      const target = path === '' ? page : pages.get(path.replace(/^\/docs\/?/, ''))
      expect(target, `${name}: ${path}`).toBeDefined()
      if (anchor) expect(target, `${name}: ${path}#${anchor}`).toContain(`id="${anchor}"`)
    }
  }
})

test('a page shows one language, and its links keep it', () => {
  const page = (lang?: string) => reference.page('drafts', { lang }) ?? ''
  expect(page()).toContain('curl -X POST https://callsign.example/api/v1/mailboxes/sales/drafts')
  expect(page('typescript')).toContain('await callsign.drafts.create(')
  expect(page('typescript')).not.toContain('curl -X')
  expect(page('typescript')).toContain('href="/docs/messages?lang=typescript"')
  expect(page('cli')).toContain('callsign drafts create sales')
  expect(page('klingon')).toBe(page())
})

test.each<[string, string]>([
  ['release quarantine', 'POST /api/v1/mailboxes/{email_address}/messages/{message_id}/release'],
  ['draft_version_conflict', 'draft_version_conflict'],
  ['sms.received', 'sms.received'],
  ['SENDMAIL', 'POST /api/v1/mail/send'],
  ['extracted_text', 'Message'],
])('the search for "%s" finds %s', (q, title) => {
  expect(reference.page('search', { q })).toContain(`<code>${title}</code>`)
})

test('a search for nothing known says so', () => {
  expect(reference.page('search', { q: 'zebra crossing' })).toContain('Nothing contains all of “zebra crossing”.')
  expect(reference.page('search', {})).toContain('Enter a word')
  expect(reference.page('search', { q: ['a', 'b'] })).toContain('Enter a word')
  expect(reference.page('constructor', {})).toBeNull()
})

let edge: Awaited<ReturnType<typeof startEdge>>
beforeAll(async () => {
  edge = await startEdge()
})
afterAll(() => edge.server.drain(1000))

test('the server serves its own document and pages without a key', async () => {
  const served = await edge.call('/openapi.json', { key: '' })
  expect(served.headers.get('content-type')).toContain('application/json')
  const own = JSON.parse(served.text) as typeof document
  expect(own.servers).toEqual([{ url: `http://localhost:${edge.port}` }])
  expect(own.paths['/api/v1/notes']?.post?.operationId).toBe('writeNote')
  expect((await new Validator().validate(own)).valid).toBe(true)
  for (const path of ['/docs', '/docs/notes', '/docs/search?q=note']) {
    const page = await edge.call(path, { key: '' })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
    expect(page.text).not.toMatch(/<script|https?:\/\/(?!localhost)/)
  }
  expect((await edge.call('/docs/nothing', { key: '' })).status).toBe(404)
})

test('the server gives language models an overview and the whole reference as text', async () => {
  const overview = await edge.call('/llms.txt', { key: '' })
  expect(overview.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(overview.text).toMatch(/^# Callsign\n\n> /)
  for (const [, path = ''] of overview.text.matchAll(/\]\(http:\/\/localhost:\d+(\/[^)]*)\)/g)) {
    expect((await edge.call(path, { key: '' })).status, path).toBe(200)
  }
  const whole = await edge.call('/llms-full.txt', { key: '' })
  expect(whole.text).toContain('### POST /api/v1/notes')
})

test('the whole reference as text has every operation with its description and example', () => {
  const text = llmsFullText(document)
  for (const { method, path, id } of operations) {
    expect(text).toContain(`### ${method} ${path}\n`)
    expect(text).toContain(operationDetails[id]?.description ?? '?')
  }
  expect(text).not.toMatch(/undefined|\[object/)
})
