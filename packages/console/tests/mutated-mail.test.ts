// 10,000 mutated vectors in Chromium. The sanitized HTML is written into a page without a policy or sandbox, so that the sanitizer stands alone.
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { launchBrowser } from './harness/browser.ts'
import { mutatedVectors } from './mutated-vectors.ts'

const vectorsCount = 10_000
const batchSize = 250

let server: Server
let browser: Browser
let page: Page
/** Requests other than that for the page. */
const requested: string[] = []

beforeAll(async () => {
  const sanitizer = await build({
    entryPoints: [join(import.meta.dirname, '..', 'src', 'screens', 'mail', 'sanitize-html.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'mail',
    write: false,
  })
  server = createServer((request, reply) => {
    if (request.url !== '/' && request.url !== '/last') requested.push(`${request.headers.host}${request.url}`)
    reply.setHeader('content-type', 'text/html')
    reply.end('<!doctype html><title>Vectors</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  browser = await launchBrowser([`--host-resolver-rules=MAP *.evil.example 127.0.0.1:${port}`])
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${port}/`)
  await page.evaluate(`${sanitizer.outputFiles[0]?.text}
    globalThis.hits = 0
    globalThis.show = (html) => {
      const frame = document.createElement('iframe')
      document.body.append(frame)
      frame.contentWindow.hit = () => { hits++ }
      const inner = frame.contentDocument
      inner.open()
      frame.contentWindow.hit = () => { hits++ }
      inner.write(html)
      inner.close()
      return frame
    }
    globalThis.sanitized = (html) => mail.sanitizeMail(html, { areImagesShown: false, imageOf: () => null }).html
    // A request of its own after those of the frames: the browser sends them in order.
    globalThis.settle = async () => {
      await fetch('/last', { cache: 'no-store' })
      await new Promise(requestAnimationFrame)
    }
    // The vectors of a batch are in one document, where a part that is left open would change the next one.
    globalThis.showAll = async (vectors) => {
      const before = hits
      const frame = show(vectors.map(sanitized).join(''))
      // What a second parser makes of the first one's writing.
      const again = show(frame.contentDocument.documentElement.outerHTML)
      await settle()
      frame.remove()
      again.remove()
      return hits - before
    }`)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  server?.close()
})

test('a vector without the sanitizer executes and requests, so that the trap works', async () => {
  await page.evaluate(`show('<p>x</p><img src=x onerror=hit()><img src="http://case-0.evil.example/pixel">')`)
  await page.waitForFunction('hits > 0')
  await waitFor('the request of the other image', async () => requested.some((url) => url.includes('case-0.evil.example')))
  requested.length = 0
})

test('honest formatting survives', async () => {
  const html =
    '<style>p{color:red}@media (max-width:9px){p{margin:0}}</style><p style="font-weight:bold">Hello <a href="https://people.example/x">you</a></p><table><tr><td>1</td></tr></table>'
  const kept = (await page.evaluate(`sanitized(${JSON.stringify(html)})`)) as string
  for (const part of [
    'p{color: red;}',
    '@media (max-width: 9px){p{margin: 0px;}}',
    'style="font-weight: bold;"',
    'href="https://people.example/x"',
    '<td>1</td>',
  ])
    expect(kept).toContain(part)
})

test(`${vectorsCount} mutated vectors execute nothing and request nothing`, { timeout: 600_000 }, async () => {
  const vectors = mutatedVectors(vectorsCount)
  expect(new Set(vectors).size).toBeGreaterThan(vectorsCount * 0.9)
  for (let from = 0; from < vectors.length; from += batchSize) {
    const batch = vectors.slice(from, from + batchSize)
    const hits = await page.evaluate(`showAll(${JSON.stringify(batch)})`)
    expect([from, hits, requested]).toEqual([from, 0, []])
  }
})
