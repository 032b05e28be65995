// Both clients make the same calls, each against a server of its own, and get the same results.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ApiError, Callsign } from '@callsign/sdk'
import { expect, test } from 'vitest'
import { pythonMethods } from '../../../bin/python.ts'
import { startHarness } from '../../server/tests/harness/start.ts'
import { type Call, calls } from './calls.ts'
import { environment, folder, python, skipReason } from './python.ts'

type Result = { reply?: unknown; bytes?: string; error?: { status: number; code: string; message: string } }

test('every method of the Python client is in the table', () => {
  const called = new Set(calls.map(({ call }) => call))
  const missing = pythonMethods().flatMap(({ resource, name, operation }) => {
    if (resource === 'vault_api') return []
    const camel = `${resource}.${name}`.replace(/^\./, '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    return called.has(camel) ? [] : [`${camel} (${operation.id})`]
  })
  expect(missing).toEqual([])
})

test.skipIf(!python)(`${calls.length} calls have the same results in TypeScript and in Python${skipReason}`, async () => {
  const [typescript, blocking, asynchronous] = await Promise.all([
    withServer(runTypescript),
    withServer((url, key) => runPython(url, key, false)),
    withServer((url, key) => runPython(url, key, true)),
  ])
  const differences = calls.flatMap(({ call, error }, index) => {
    const [expected, ...others] = [typescript, blocking, asynchronous].map((results) => JSON.stringify(results[index]))
    const code = typescript[index]?.error?.code
    return code === error && others.every((other) => other === expected) ? [] : [{ call, code, expected, others }]
  })
  expect(differences).toEqual([])
})

test.skipIf(!python)(`the examples of the README print what it says${skipReason}`, async () => {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```python\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)]
  expect(examples.length).toBe(readme.match(/^```python$/gm)?.length)
  // The example of the vault needs packages from PyPI. npm run python runs it.
  const standard = examples.filter(([, code]) => !code?.includes('vault'))
  expect(standard.length).toBe(examples.length - 1)
  const harness = await startHarness()
  try {
    const settings = { ...environment, CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey }
    for (const [, code, output] of standard) {
      const printed = await outputOf(
        spawn(python as string, ['-c', code as string], { env: settings, stdio: ['ignore', 'pipe', 'inherit'] }),
      )
      expect(printed).toBe(output)
    }
  } finally {
    await harness.stop()
  }
})

async function withServer(run: (url: string, key: string) => Promise<Result[]>): Promise<Result[]> {
  const harness = await startHarness()
  try {
    return comparable(await run(harness.baseUrl, harness.organizationKey))
  } finally {
    await harness.stop()
  }
}

async function runTypescript(url: string, apiKey: string): Promise<Result[]> {
  const client = new Callsign({ url, apiKey })
  const saved: Record<string, unknown> = {}
  const results: Result[] = []
  for (const call of calls) results.push(await resultOf(client, call, saved))
  return results
}

async function resultOf(client: Callsign, call: Call, saved: Record<string, unknown>): Promise<Result> {
  const [resource, method] = call.call.includes('.') ? call.call.split('.') : ['', call.call]
  const owner = (resource === '' ? client : client[resource as keyof Callsign]) as unknown as Record<
    string,
    (...values: unknown[]) => Promise<unknown>
  >
  const values = [...(call.path ?? []), ...(call.args ? [call.args] : [])].map((value) => filled(value, saved))
  for (;;) {
    let reply: unknown
    try {
      reply = (await owner[method as string]?.(...values)) ?? null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { error: { status: error.status, code: error.code, message: error.message } }
    }
    if (call.until && placeOf(reply, call.until.at) !== call.until.is) continue
    for (const [name, at] of Object.entries(call.save ?? {})) saved[name] = placeOf(reply, at)
    return reply instanceof Uint8Array ? { bytes: Buffer.from(reply).toString('base64') } : { reply }
  }
}

async function runPython(url: string, apiKey: string, isAsync: boolean): Promise<Result[]> {
  const child = spawn(python as string, [join(folder, 'tests/run_calls.py')], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ url, api_key: apiKey, calls, is_async: isAsync }))
  const output = await outputOf(child)
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
}

function outputOf(child: ChildProcessByStdio<Writable | null, Readable, null>): Promise<string> {
  const output: Buffer[] = []
  child.stdout.on('data', (bytes: Buffer) => output.push(bytes))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString())
      else reject(new Error(`Python ended with ${code}`))
    })
  })
}

const placeOf = (value: unknown, at: string): unknown =>
  at.split('.').reduce<unknown>((inner, part) => (inner as Record<string, unknown> | undefined)?.[part], value)

function filled(value: unknown, saved: Record<string, unknown>): unknown {
  if (typeof value === 'string' && value.startsWith('$')) return saved[value.slice(1)]
  if (Array.isArray(value)) return value.map((item) => filled(item, saved))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, saved)]))
}

/** The results without values that no two servers share: ids, times, keys, ports and random names. */
function comparable(results: Result[]): Result[] {
  const decoded = results.map((result) => (result.bytes === undefined ? result : { reply: Buffer.from(result.bytes, 'base64').toString() }))
  return JSON.parse(JSON.stringify(decoded), (name, value) => {
    if (measured.has(name)) return null
    // The API calls the domain in the reply of `domains.verify` data.
    if (value?.domain?.dns_records) return { data: value.domain, message: value.message }
    return typeof value === 'string' ? withoutRandom(value) : value
  }) as Result[]
}

const measured = new Set(['last4', 'latency_ms', 'duration_ms', 'dkim-signature', 'last_used_user_agent'])

const withoutRandom = (text: string): string =>
  text
    .replace(/\bevs_[\w.-]+/g, 'TOKEN')
    .replace(/(?<![0-9a-z])([a-z]+_)?[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\w{3}, \d\d? \w{3} \d{4}( at)? [\d:]{5,8}( [+-]\d{4}| UTC)?/g, 'TIME')
    .replace(/(\.tunnel\.localhost):\d+/g, '$1:PORT')
    .replace(/https?:\/\/[\w.:]+\/(?:approve|media)\/[^\s"]+/g, 'LINK')
    .replace(/svc_live_\w+/g, 'KEY')
    .replace(/whsec_[\w+/=]+/g, 'SECRET')
    .replace(/cs[0-9a-z]{12}\._domainkey/g, 'SELECTOR')
    .replace(/callsign-verification=\w+/g, 'TOKEN')
    .replace(/\bp=[\w+/=" ]{20,}/g, 'PUBLIC')
    .replace(/^DKIM-Signature:.*\r\n([ \t].*\r\n)*/gm, 'SIGNATURE')
    .replace(/(boundary="|--)[-=\w]{16,}/g, 'BOUNDARY')
