// Runs every code block of the pages in docs/site against one server: curl and CLI by a shell, TypeScript and Python by their programs.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from './harness/peer-process.ts'
import { createWorkshop, type Program, readPage, replaceWords, repository, type Setting, type Workshop } from './harness/snippets.ts'
import { type Harness, startHarness } from './harness/start.ts'

const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
)
const hasArgon2 = python !== undefined && spawnSync(python, ['-c', 'import argon2']).status === 0

const folder = join(repository, 'docs', 'site')
const pages = globSync('**/*.md', { cwd: folder }).toSorted()
const contents = await Promise.all(pages.map(readPage))
const programs = contents.flatMap((page) => page.programs)
const quoted = contents.flatMap((page) => page.quoted)

/** Blocks that are not run, by the words behind their fence, with the reason. */
const notRun: Record<string, string> = {
  'sh start': 'readme-tour.test.ts and start.test.ts start a server in this way.',
  'sh settings': 'The runner sets these two variables to its own server and key.',
  'sh install': 'package-readmes.test.ts and packages/python install the packages.',
  json: 'These are values, which are parsed.',
  ini: 'These are settings of other programs.',
  yaml: 'These are settings of other programs.',
  http: 'These are messages on the wire.',
  text: 'These are drawings.',
}

/** The reason for not running a program on this machine, or an empty text. */
function reasonToSkip({ language, steps }: Program): string {
  if (language !== 'python') return ''
  if (!python) return 'Python 3.10 or later is not installed'
  return steps.some(({ code }) => code.includes('.vault.')) && !hasArgon2 ? 'argon2-cffi is not installed' : ''
}

let harness: Harness
let workshop: Workshop
const prepared = new Map<Program, { folder: string; words: Setting['words'] }>()
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  workshop = await createWorkshop(python ?? null)
  for (const [index, program] of programs.entries()) {
    const words = await wordsFor(index)
    prepared.set(program, { folder: await workshop.prepare(program, words), words })
  }
})
afterAll(async () => {
  await harness?.stop()
  await workshop?.remove()
})

/** Handles, simulated phones and ports are unique on a server or a machine, so that each program gets its own. */
async function wordsFor(index: number): Promise<Setting['words']> {
  const ports = await Promise.all([findFreePort(), findFreePort()])
  return [
    [/(?<![\w-])(sales|support|signup|ci)(?![\w-])/g, `$1${index}`],
    [/\b3000\b/g, String(ports[0])],
    [/\b8787\b/g, String(ports[1])],
    [/\+14155550123/g, `+14155550${200 + index}`],
    [/localhost:2525/g, `127.0.0.1:${harness.smtpPort}`],
    [/http:\/\/localhost:8080/g, harness.baseUrl],
  ]
}

const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** True if the parts of the expected text between `…` occur in this order. */
function contains(output: string, expected: string): boolean {
  let at = 0
  for (const part of expected.split('…').map(squeezed).filter(Boolean)) {
    const found = squeezed(output).indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return true
}

describe.concurrent.each(pages)('docs/site/%s', (page) => {
  const own = programs.filter((program) => program.page === page)
  if (own.length === 0) test('has no programs', () => expect(own).toEqual([]))

  for (const program of own) {
    const reason = reasonToSkip(program)
    const name = `runs in ${program.language}, ${program.steps.length} blocks${reason && ` (skipped: ${reason})`}`
    test.skipIf(reason !== '')(name, async ({ signal }) => {
      const { folder: place, words } = prepared.get(program) as { folder: string; words: Setting['words'] }
      const { key } = await harness.createOrganization(`${page} ${program.language}`)
      const ran = await workshop.run(place, program, { url: harness.baseUrl, key, words }, signal)
      expect(ran.code, `${ran.stderr}\nafter printing:\n${ran.outputs.join('')}`).toBe(0)
      expect(ran.outputs).toHaveLength(program.steps.length)
      for (const [index, { code, output }] of program.steps.entries()) {
        const printed = ran.outputs[index] as string
        if (output !== null && !contains(printed, replaceWords(output, words)))
          expect.fail(`${code}\nprinted\n${printed}\nwhich does not contain\n${output}`)
      }
    })
  }
})

test('the TypeScript blocks type-check', async () => {
  expect(await workshop.typeCheck()).toBe('')
})

test('every example is in all four languages', () => {
  const counts = contents.flatMap(({ programs: own }) => {
    const numbers = (['curl', 'ts', 'python', 'cli'] as const).map(
      (language) => own.find((one) => one.language === language)?.steps.length ?? 0,
    )
    return new Set(numbers).size === 1 ? [] : [`${own[0]?.page}: ${numbers.join(', ')} blocks of curl, TypeScript, Python and CLI`]
  })
  expect(counts).toEqual([])
})

test('blocks that are not run are known, and JSON is valid', () => {
  for (const { page, fence, code } of quoted) {
    expect(notRun[fence], `${page}: a block with the fence "${fence}"`).toBeDefined()
    if (fence === 'json') expect(() => JSON.parse(code), code).not.toThrow()
    if (fence === 'sh settings') expect(code).toBe('export CALLSIGN_URL=http://localhost:8080\nexport CALLSIGN_API_KEY=svc_live_...')
  }
  expect(Object.keys(notRun).length).toBeGreaterThan(0)
})

test('every page is in the list of pages', () => {
  const listed = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8')) as { pages: string[] }[]
  expect(
    listed
      .flatMap((section) => section.pages)
      .filter((page) => !page.startsWith('../'))
      .toSorted(),
  ).toEqual(pages)
})
