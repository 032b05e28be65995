// Metrics of a whole server, on their own listener.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

test('metrics have a listener of their own, and the public port answers 404', async () => {
  const base = `http://127.0.0.1:${harness.metricsPort}`
  const page = await fetch(`${base}/metrics?name=x`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(await page.text()).toContain('# TYPE http_requests_total counter')
  const head = await fetch(`${base}/metrics`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const post = await fetch(`${base}/metrics`, { method: 'POST', body: 'x' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  for (const path of ['/', '/healthz', '/api/v1/me', '/metrics/']) expect((await fetch(`${base}${path}`)).status).toBe(404)
  for (const key of [harness.organizationKey, null]) expect((await harness.api('GET', '/metrics', { key })).status).toBe(404)
})
