// The pages of the documentation: guides, reference, search, and their Markdown for language models.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { operations } from '@callsign/contract'
import { openApiDocument } from '@callsign/contract/openapi'
import { operation } from '@callsign/contract/operation'
import { codeSamples } from '@callsign/contract/reference/code-samples'
import { operationDetails } from '@callsign/contract/reference/details'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { siteFiles } from '../../../bin/site.ts'
import { type Guide, movedPaths, movedTo, readGuides } from '../src/edges/docs-site/guides.ts'
import { parseMarkdown, renderMarkdown } from '../src/edges/docs-site/markdown.ts'
import { llmsFullText } from '../src/edges/docs-site/reference/llms.ts'
import { createSite } from '../src/edges/docs-site/site.ts'
import { startEdge } from './harness/api-edge.ts'

const document = openApiDocument({ serverUrl: 'https://callsign.example', version: '1.2.3' }, operations)
const guides = readGuides()
const site = createSite(document, guides)

const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
)
/** The Python client manages keys of the vault over the command line. */
const withoutPython = ['replaceVaultPrimaryKey', 'deleteVaultKey', 'rotateVault', 'listVaultAccess']

const slugOf = (name: string): string => name.toLowerCase().replaceAll(' ', '-')

const renderText = (markdown: string): string => renderMarkdown(parseMarkdown(markdown), (target) => target).html.text

describe('Markdown', () => {
  test('becomes headings with anchors, lists, tables, links and code', () => {
    const text = renderText(
      '# T\n\n## One `a` & two!\n\n## One a  two\n\n- *b*\n\n| c | d |\n|---|---|\n| `e` | **f** |\n\n[g](/h "i") ![j](/k.png)',
    )
    expect(text).toContain('<h2 id="one-a--two"><a href="#one-a--two">One <code>a</code> &amp; two!</a></h2>')
    expect(text).toContain('<h2 id="one-a--two-1">')
    expect(text).not.toContain('<h1')
    expect(text).toContain('<ul><li><em>b</em></li></ul>')
    expect(text).toContain('<tr><td><code>e</code></td><td><strong>f</strong></td></tr>')
    expect(text).toContain('<a href="/h">g</a> <img src="/k.png" alt="j" loading="lazy">')
  })

  test('cannot bring its own HTML, scripts or addresses with other schemes', () => {
    const text = renderText(
      [
        '<script>alert(1)</script>',
        'a <img src=x onerror=alert(1)> `<b>` &lt;i&gt;',
        '[a](javascript:alert(1)) [b](data:text/html,x) [c](VBScript:x) ![d](javascript:x) <javascript:alert(1)>',
        '[e]("onmouseover="alert(1)) ![f" onload="x](/y)',
        '```"><s>\n<u>\n```',
        '<!-- unseen -->',
      ].join('\n\n'),
    )
    expect(text).not.toMatch(/<(script|img src=x|b|i|s|u)\b/)
    expect(text).not.toMatch(/(href|src)="(?!#|\/)/)
    expect(text).not.toMatch(/<[^>]*\son\w+="/)
    expect(text).not.toContain('unseen')
  })

  test('shows blocks in several languages as one group, and the first one to readers of a language without its own', () => {
    const text = renderText('```sh curl\na\n```\n\n```ts\nb\n```\n\n```python\nc\n```\n\n```ts\nd\n```\n\n```json\n{"e": 1}\n```')
    expect(text.match(/<figure class="code samples">/g)).toHaveLength(2)
    expect(text).toContain('<pre tabindex="0" data-for="curl cli"><code>a</code></pre><pre tabindex="0" data-for="ts"><code>b</code></pre>')
    expect(text).toContain('<pre tabindex="0" data-for="ts curl python cli"><code>d</code></pre>')
    expect(text).toContain('<figure class="code"><figcaption><span>JSON</span>')
  })
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
  const nastySite = createSite(openApiDocument({ serverUrl: 'http://a/"><script>', version: '<v>' }, [nasty]), [])
  const texts = ['', 'api/b-tag-b', 'api/schemas', 'search'].map((path) => nastySite.page(path, { q: '"><img src=x>' }) ?? '')
  for (const text of texts) {
    const content = text.slice(text.indexOf('<body>'))
    expect(content.length).toBeGreaterThan(500)
    expect(content).not.toMatch(/<(script|b|i|u|s|v|img)\b/)
  }
  expect(texts[1]).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;')
})

describe('every page', () => {
  const pages = new Map([...site.paths(), 'search'].map((path) => [path, site.page(path, { q: 'message' }) ?? '']))

  test('exists: guides, and each operation in the page of its resource', () => {
    for (const path of ['', 'quick-start', 'concepts', 'operating', 'api', 'api/errors', 'api/schemas', 'api/event-types'])
      expect(pages.has(path), path).toBe(true)
    for (const { operationId, tags, description, 'x-codeSamples': samples } of Object.values(document.paths).flatMap(Object.values)) {
      expect(pages.get(`api/${slugOf(tags[0] as string)}`)?.includes(`<section id="${operationId}">`), operationId).toBe(true)
      expect(Boolean(description && samples) || tags[0] === 'Health', operationId).toBe(true)
    }
  })

  test.each([...pages.keys()])('/docs/%s leads only to places that exist', (path) => {
    const text = pages.get(path) as string
    const content = text.slice(text.indexOf('<body>'))
    expect(/\[object Object|>undefined</.exec(content)).toBeNull()
    for (const [, target = '', anchor] of content.matchAll(/href="([^"#?]*)(?:#([^"]+))?"/g)) {
      if (/^(https:\/\/|mailto:|\/openapi\.json$|\/llms)/.test(target)) continue
      const markdown = /^\/docs\/(.*)\.md$/.exec(target)?.[1]
      if (markdown !== undefined) expect(site.markdown(markdown === 'index' ? '' : markdown), target).not.toBeNull()
      else {
        const shown = target === '' ? text : pages.get(target.replace(/^\/docs\/?/, ''))
        expect(shown, target).toBeDefined()
        if (anchor) expect(shown?.includes(`id="${anchor}"`), `${target}#${anchor}`).toBe(true)
      }
    }
  })

  test('has a title, and a guide also a description of one paragraph', () => {
    for (const [path, text] of pages) expect(/<title>(.+)<\/title>/.exec(text)?.[1], path).toBeTruthy()
    expect(guides.length).toBeGreaterThan(10)
    for (const { path, title, description, parts } of guides) {
      expect(title, path).not.toBe('')
      expect(description.length, path).toBeGreaterThan(20)
      expect(parts.length, path).toBeGreaterThan(0)
    }
    expect(new Set(guides.map(({ path }) => path)).size).toBe(guides.length)
  })
})

/** Verbs that a heading of instructions starts with. A heading is a noun. */
const verbs =
  /^(?:Add|Approve|Archive|Ask|Block|Call|Choose|Connect|Create|Decide|Delete|Find|Follow|Get|Give|Grant|Keep|Limit|Open|Organise|Publish|Read|Receive|Register|Require|Review|Revoke|Run|See|Send|Serve|Set|Sign|Start|Store|Take|Talk|Use|Verify|Wait|Write) /

test('titles and headings are nouns', () => {
  const headings = guides.filter(({ path }) => path !== 'cli').flatMap(({ title, parts }) => [title, ...parts.map((part) => part.title)])
  expect(headings.filter((heading) => verbs.test(heading) || /[.?!]$/.test(heading))).toEqual([])
  expect(verbs.test('Wait for a code')).toBe(true)
})

test('each page has a list of its headings, also on narrow screens', () => {
  for (const path of ['events', 'api', 'api/errors', 'api/event-types', 'api/schemas']) {
    const [, list = ''] = /<details class="contents[^>]*>([\s\S]*?)<\/details>/.exec(site.page(path) ?? '') ?? []
    expect(list.match(/<li><a href="#/g)?.length, path).toBeGreaterThan(4)
  }
  expect(site.page('api/drafts')).toContain('<ul class="operations">')
  expect(site.page('recipes/webhook-queue')).not.toContain('<details class="contents')
})

test('an example of the reference is in four languages', () => {
  const page = site.page('api/drafts') ?? ''
  for (const text of [
    'curl -X POST https://callsign.example/api',
    '/v1/mailboxes/sales/drafts',
    'callsign.drafts.create(',
    'callsign drafts create sales',
  ])
    expect(page.replaceAll(/<[^>]*>/g, '')).toContain(text)
  const text = page.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')
  expect(text).toContain('draft = callsign.drafts.create(\n    "sales",\n    to=["ada@example.com"],')
})

describe('the search', () => {
  const titles = (q: string) => site.search(q).map(({ title }) => title)

  test.each<[string, string]>([
    ['release quarantine', 'POST /api/v1/mailboxes/{email_address}/messages/{message_id}/release'],
    ['draft_version_conflict', 'draft_version_conflict'],
    ['sms.received', 'sms.received'],
    ['SENDMAIL', 'POST /api/v1/mail/send'],
    ['extracted_text', 'Message'],
    ['quick start', 'Quick start'],
    ['idempotency-key concepts', 'Concepts: Idempotency'],
  ])('for "%s" finds %s', (q, title) => {
    expect(titles(q)).toContain(title)
    expect(site.page('search', { q })?.includes(title)).toBe(true)
  })

  test.each([
    ['localhost webhook', 'events', 'CALLSIGN_OUTBOUND_ALLOW_CIDRS'],
    ['pagination', 'clients', 'next_cursor'],
    ['webhook localhost is refused here', 'events', ''],
  ])('for "%s" leads to the page %s', (q, page, setting) => {
    const [first] = site.search(q)
    expect(first?.page).toBe(page)
    const guide = guides.find(({ path }) => path === page)
    expect(guide?.parts.find(({ anchor }) => anchor === first?.anchor)?.text).toContain(setting)
  })

  test('shows guides before reference entries of the same weight, with the words around the match', () => {
    const [first] = site.search('quick start')
    expect(first).toMatchObject({ kind: 'guide', page: 'quick-start', about: expect.stringContaining('Start a server') })
    expect(site.search('simulator plays world')[0]?.about).toContain('The simulator plays the world outside')
  })

  test('finds nothing for unknown words, and nothing unless the query is a text', () => {
    expect(site.page('search', { q: 'zebra crossing' })).toContain('Nothing contains all of “zebra crossing”.')
    expect(site.page('search', {})).toContain('Enter a word')
    expect(site.page('search', { q: ['a', 'b'] })).toContain('Enter a word')
    expect(site.search(['a'])).toEqual([])
    expect(site.page('constructor', {})).toBeNull()
  })
})

describe('served', () => {
  let edge: Awaited<ReturnType<typeof startEdge>>
  beforeAll(async () => {
    edge = await startEdge()
  })
  afterAll(() => edge.server.drain(1000))

  const hashOf = (text: string | undefined) =>
    `'sha256-${createHash('sha256')
      .update(text ?? '')
      .digest('base64')}'`

  test('without a key, with the hashes of its own style and script, and nothing from elsewhere', async () => {
    for (const path of ['/docs', '/docs/quick-start', '/docs/api', '/docs/api/notes', '/docs/search?q=note']) {
      const page = await edge.call(path, { key: '' })
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
      const policy = page.headers.get('content-security-policy')
      expect(policy).toContain(`style-src ${hashOf(/<style>([\s\S]*?)<\/style>/.exec(page.text)?.[1])};`)
      expect(policy).toContain(`script-src ${hashOf(/<script>([\s\S]*?)<\/script>/.exec(page.text)?.[1])};`)
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
      expect(page.text.match(/<script/g)).toHaveLength(1)
      expect(page.text).not.toMatch(/<(script|img|link|iframe)[^>]*(src|href)="(?!\/)|\son\w+="|\sstyle="/)
    }
    for (const path of [
      '/docs/nothing',
      '/docs/nothing.md',
      '/docs/images/nothing.png',
      '/docs/images/../site/pages.json',
      '/docs/images/%2e%2e%2fcli.md',
    ])
      expect((await edge.call(path, { key: '' })).status, path).toBe(404)
    const missing = await edge.call('/docs/nothing', { key: '' })
    expect(missing.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(missing.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(missing.text).toContain('<h1>Page not found</h1>')
    expect(missing.text).toContain('href="/docs/quick-start"')
    expect(missing.text).toContain('action="/docs/search"')
    // Outside of the documentation, what does not exist is JSON.
    expect((await edge.call('/nothing', { key: '' })).headers.get('content-type')).toContain('application/json')
  })

  test('with an icon, and redirects from the earlier addresses of pages', async () => {
    const page = await edge.call('/docs', { key: '' })
    const [, icon = ''] = /<link rel="icon" href="([^"]+)"/.exec(page.text) ?? []
    const picture = await edge.call(icon, { key: '' })
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    for (const [from, to] of [
      ['/docs/guides/vault', '/docs/vault'],
      ['/docs/guides/approval.md', '/docs/drafts.md'],
      ['/docs/waking-an-agent', '/docs/events'],
    ]) {
      const moved = await edge.call(from as string, { key: '', redirect: 'manual' })
      expect([moved.status, moved.headers.get('location')]).toEqual([301, to])
    }
    for (const path of movedPaths()) expect(site.page(movedTo(path) ?? '?'), path).not.toBeNull()
    expect(movedTo('quick-start')).toBeNull()
  })

  test('as Markdown, with links that lead somewhere', async () => {
    const page = await edge.call('/docs/quick-start.md', { key: '' })
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(page.text).toMatch(/^# Quick start\n/)
    expect(page.text).toContain('](/docs/concepts.md)')
    expect((await edge.call('/docs/index.md', { key: '' })).text).toMatch(/^# Callsign\n/)
    const image = await edge.call('/docs/images/console-inbox.png', { key: '' })
    expect(image.headers.get('content-type')).toBe('image/png')
  })

  test('with search results as JSON', async () => {
    const { text } = await edge.call('/docs/search.json?q=note', { key: '' })
    expect(JSON.parse(text).data).toContainEqual(expect.objectContaining({ kind: 'operation', page: 'api/notes', anchor: 'writeNote' }))
    expect(JSON.parse((await edge.call('/docs/search.json', { key: '' })).text)).toEqual({ data: [] })
  })

  test('with an overview for language models that lists every guide, and everything as one text', async () => {
    const overview = await edge.call('/llms.txt', { key: '' })
    expect(overview.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(overview.text).toMatch(/^# Callsign\n\n> /)
    for (const { path, title } of guides)
      expect(overview.text).toMatch(new RegExp(`\\[${title}\\]\\(\\S+/docs/${path || 'index'}\\.md\\): .`))
    for (const [, path = ''] of overview.text.matchAll(/\]\(http:\/\/localhost:\d+(\/[^)]*)\)/g)) {
      expect((await edge.call(path, { key: '' })).status, path).toBe(200)
    }
    const whole = await edge.call('/llms-full.txt', { key: '' })
    expect(whole.text).toContain('### POST /api/v1/notes')
    expect(whole.text).toContain('# Quick start')
  })
})

test('the pages as files have no search and no requests to try', () => {
  const files = siteFiles('https://callsign.example', '1.2.3')
  expect(files.size).toBeGreaterThan(2 * guides.length)
  for (const path of ['docs/index.html', 'docs/index.md', 'docs/mail/index.html', 'docs/mail.md', 'docs/api/index.html', 'llms.txt'])
    expect(files.has(path), path).toBe(true)
  expect(files.get('docs/index.html')).not.toContain('<form action=')
  expect(files.get('docs/index.html')).not.toContain('data-server>')
  expect(site.page('')).toContain('<html lang="en" data-server>')
})

describe('the examples for Python', () => {
  const samples = operations.flatMap((shape) => {
    const details = operationDetails[shape.id]
    const sample = details && codeSamples(shape, details, '').find(({ label }) => label === 'Python')
    return sample ? [{ id: shape.id, source: sample.source }] : []
  })

  test('exist for every operation with an SDK method, but for those of the vault that Python lacks', () => {
    const missing = operations.filter(({ id }) => operationDetails[id]?.sdk && samples.every((sample) => sample.id !== id))
    expect(missing.map(({ id }) => id)).toEqual(withoutPython)
  })

  test.skipIf(!python)(
    `call methods that exist, with arguments that they take${python ? '' : ' (skipped: Python is not installed)'}`,
    () => {
      const program = join(import.meta.dirname, 'harness', 'check_samples.py')
      const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, '../../python/src'), PYTHONDONTWRITEBYTECODE: '1' }
      const { status, stdout, stderr } = spawnSync(python as string, [program], { input: JSON.stringify(samples), env, encoding: 'utf8' })
      expect(stdout + stderr).toBe('')
      expect(status).toBe(0)
    },
  )
})

test('the whole text has every page, and every operation with its description and example', () => {
  const text = llmsFullText(document, guides)
  for (const { method, path, id } of operations) {
    expect(text.includes(`### ${method} ${path}\n`), path).toBe(true)
    expect(text.includes(operationDetails[id]?.description ?? '?'), id).toBe(true)
  }
  for (const { markdown } of guides as Guide[]) expect(text.includes(markdown.trim())).toBe(true)
  expect(text).not.toMatch(/\[object/)
})
