// The mail worker keeps the main thread free for any message, gives the same results on both threads, and survives crashes of its threads.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { readMail } from '@callsign/mail/content/reading'
import { readSubmission } from '@callsign/mail/content/submission'
import { afterEach, describe, expect, test } from 'vitest'
import { expectCost } from '../../mail/tests/harness/cost.ts'
import { bombs } from '../../mail/tests/harness/mime-bombs.ts'
import { allowedMs, leastThreadMs } from '../../mail/tests/harness/processor.ts'
import { createZoneResolver } from '../../mail/tests/harness/zone-resolver.ts'
import { createLog } from '../src/core/log.ts'
import { createMailReader, type ReaderSettings } from '../src/edges/mail-worker/reader.ts'

const readers: ReturnType<typeof createMailReader>[] = []
function open(settings: Partial<ReaderSettings> = {}) {
  const resolver = createZoneResolver({ 'b.example': { TXT: ['v=spf1 ip4:192.0.2.7 -all'] } })
  const reader = createMailReader({ resolver, hostname: 'mx.example', log: createLog('silent'), ...settings })
  readers.push(reader)
  return reader
}
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()))
})
const client = { address: '192.0.2.7', name: 'mail.b.example' }

const mail = join(import.meta.dirname, '..', '..', 'mail')

/** A bomb cut down to a size. */
function cutDown(make: (scale: number) => string, bytesMax: number): Buffer {
  let scale = 1
  let raw = Buffer.from(make(scale))
  while (raw.length > bytesMax) {
    scale *= (bytesMax * 0.94) / raw.length
    raw = Buffer.from(make(scale))
  }
  return raw
}

/** A message is copied for the thread once to check and once to read. Each copy of 25 MB takes 90 ms on a machine whose new memory is slow. */
async function limitFor(raw: Buffer, copies = 3): Promise<number> {
  return Math.max(await allowedMs(50), copies * (await leastThreadMs(async () => Buffer.from(raw))))
}

describe('the main thread', () => {
  test.each(Object.entries(bombs))(
    '%s takes less than 50 ms of it or three copies to read and check, whole, small or plain',
    async (_name, make) => {
      const reader = open()
      await reader.read(Buffer.alloc(100_000, 'x'))
      for (const raw of [Buffer.from(make(1)), cutDown(make, 64 * 1024), cutDown(make, 128 * 1024)]) {
        await expectCost(
          async () => {
            await reader.check('a@b.example', client, raw)
            await reader.read(raw)
          },
          await limitFor(raw),
        )
      }
    },
  )

  test('25 MB of text take less of it than 50 ms or two copies to check, and as much to read', async () => {
    const reader = open()
    await reader.read(Buffer.alloc(100_000, 'x'))
    const text = Buffer.from(`From: a@b.example\r\n\r\n${`${'A'.repeat(76)}\r\n`.repeat(330_000)}`)
    const limitMs = await limitFor(text, 2)
    await expectCost(() => reader.check('a@b.example', client, text), limitMs)
    await expectCost(() => reader.read(text), limitMs)
  })
})

describe('a submission', () => {
  const to = ['c@d.example']
  const submitted = (type: string, body: string): Buffer =>
    Buffer.from(`From: a@b.example\r\nTo: c@d.example\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}`)
  const part = (header: string, body: string): string => `--x\r\n${header}\r\n\r\n${body}\r\n`
  const parts = 'multipart/mixed; boundary=x'
  const base64 = 'QUJD'.repeat(19)
  const large: [string, Buffer][] = [
    ['HTML', submitted('text/html', '<p>a <b>b</b> &amp; c</p>\r\n'.repeat(800_000))],
    ['parts', submitted(parts, `${part('Content-Type: text/plain', 'hi').repeat(400_000)}--x--\r\n`)],
    ['a file', submitted(parts, `${part('Content-Transfer-Encoding: base64', `${base64}\r\n`.repeat(250_000))}--x--\r\n`)],
  ]

  test.each(large)('of 16 MB or more with %s takes less of the main thread than 50 ms or three copies', async (_name, raw) => {
    const reader = open()
    await reader.read(Buffer.alloc(100_000, 'x'))
    await expectCost(() => reader.readSubmission(raw, to), await limitFor(raw))
  })

  test('has the same fields and files from a thread as from the main thread', async () => {
    const file = part('Content-Type: application/json; charset=utf-8\r\nContent-Transfer-Encoding: base64', `${base64}\r\n`.repeat(3000))
    const raw = submitted(parts, `${part('Content-Type: text/plain', 'See file')}${file}--x--\r\n`)
    const reader = open()
    const read = await reader.readSubmission(raw, to)
    expect(reader.threads()).toBe(1)
    expect(read).toEqual(readSubmission(raw, to))
    expect(read.attachments.map(({ bytes }) => bytes.toString('latin1', 0, 6))).toEqual(['ABCABC'])
  })

  test('that its thread does not finish is refused for now, and the next one is read', async () => {
    const reader = open({ taskMsMax: 1 })
    await expect(reader.readSubmission(large[0]?.[1] as Buffer, to)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await reader.readSubmission(submitted('text/plain', 'Hello'), to)).text).toBe('Hello')
  })
})

test('the worst body that is checked on the main thread takes less than 50 ms of it', async () => {
  const reader = open()
  const signature = (length: number) =>
    `DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; h=from; l=${length}; c=relaxed/relaxed; bh=x; b=x\r\n`
  for (const unit of ['x  ', 'x \r\n', ' \t', '\r\n']) {
    const signatures = [1, 2, 3, 4, 5].map((less) => signature(250_000 - less)).join('')
    const raw = Buffer.from(`${signatures}From: a@b.example\r\n\r\n${unit.repeat(250_000 / unit.length)}x`)
    await expectCost(() => reader.check('a@b.example', client, raw), await allowedMs(50), unit)
  }
  expect(reader.threads()).toBe(0)
})

test.each(Object.entries(bombs))('%s takes at most 200 ms of processor time, and three times its size in memory', (_name, make) => {
  const program = `
    const { readMail } = await import(${JSON.stringify(join(mail, 'src', 'content', 'reading.ts'))})
    const { allowedMs, leastThreadMs } = await import(${JSON.stringify(join(mail, 'tests', 'harness', 'processor.ts'))})
    const chunks = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    chunks.length = 0
    // Warm, so that what is measured is the message and not the compiler.
    for (let round = 0; round < 200; round++) readMail(raw.subarray(0, 5000))
    const limitMs = await allowedMs(200)
    const restKb = process.resourceUsage().maxRSS
    // Rounds until one is fast enough, because the speed of a shared machine changes between one and the next.
    const ms = await leastThreadMs(() => readMail(raw), { rounds: 20, enoughMs: limitMs })
    const grownBytes = (process.resourceUsage().maxRSS - restKb) * 1024
    console.log(JSON.stringify({ ms, limitMs, grownBytes, bytes: raw.length }))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { input: make(1), maxBuffer: 1 << 20 })
  const { ms, limitMs, grownBytes, bytes } = JSON.parse(child.stdout.toString()) as Record<
    'ms' | 'limitMs' | 'grownBytes' | 'bytes',
    number
  >
  expect(ms).toBeLessThan(limitMs)
  // A heap grows in steps, for any content.
  expect(grownBytes).toBeLessThan(3 * bytes + 48 * 1024 * 1024)
})

describe('threads', () => {
  const mail = (size: number, more = '') =>
    Buffer.from(`From: a@b.example\r\nSubject: big${more}\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(size / 72)}`)

  test('a thread gives the same results as the main thread', async () => {
    const raw = mail(300_000)
    const here = open({ smallBytesMax: 1 << 30, smallHeaderBytesMax: 1 << 30, checkedBytesMax: 1 << 30 })
    const there = open()
    expect(await there.read(raw)).toEqual(await here.read(raw))
    const checked = await there.check('a@b.example', client, raw)
    expect(checked).toEqual(await here.check('a@b.example', client, raw))
    expect(checked.verdicts.spf).toMatchObject({ result: 'pass' })
    expect(await there.digest(raw)).toEqual(checked.sha256)
    expect([here.threads(), there.threads()]).toEqual([0, 1])
  })

  test('small mail starts no thread in any amount, nor does a plain text of moderate length', async () => {
    const reader = open()
    await Promise.all(Array.from({ length: 50 }, () => reader.read(mail(5_000))))
    expect(reader.threads()).toBe(0)
    await reader.read(mail(120_000))
    expect(reader.threads()).toBe(0)
    await reader.read(Buffer.from(`From: a@b.example\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`))
    expect(reader.threads()).toBe(1)
  })

  test.each(['multipart/mixed; boundary=x', 'text/html', 'Text/HTML ; charset=utf-8'])('%s of 100 KB goes to a thread', async (type) => {
    const reader = open()
    await reader.read(Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n`), mail(100_000)]))
    expect(reader.threads()).toBe(1)
  })

  test('threads stay within their limit, and an idle one ends', async () => {
    const reader = open({ threadsMax: 2, idleMs: 0 })
    await Promise.all(Array.from({ length: 8 }, (_, index) => reader.read(mail(200_000, ` ${index}`))))
    expect(reader.threads()).toBeLessThanOrEqual(2)
    await expect.poll(() => reader.threads()).toBe(0)
  })

  test('a thread that does not finish is given up, the mail is kept with its header, and the checks are temperror', async () => {
    const reader = open({ taskMsMax: 0 })
    const raw = mail(300_000)
    expect(await reader.read(raw)).toMatchObject({ parsed: { subject: 'big', text: null, attachments: [] }, extractedText: '' })
    const { verdicts, sha256 } = await reader.check('a@b.example', client, raw)
    expect(verdicts).toMatchObject({ spf: { result: 'temperror' }, dkim: { result: 'temperror' }, dmarc: { result: 'temperror' } })
    expect(sha256).toEqual(await open().digest(raw))
  })

  test('a closed reader still keeps mail', async () => {
    const reader = open()
    await reader.close()
    expect((await reader.read(mail(300_000))).parsed.subject).toBe('big')
    expect(readMail(mail(1_000)).parsed.subject).toBe('big')
  })
})
