// Pastes the pages of the documentation from the first to the last on one server per language: curl and CLI into a shell, TypeScript and Python into programs.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommandLine } from '../../cli/src/command-line.ts'
import { commands } from '../../cli/src/command-table.ts'
import { findFreePort } from './harness/peer-process.ts'
import {
  createWorkshop,
  type Language,
  type Program,
  readPage,
  replaceWords,
  repository,
  type Words,
  type Workshop,
} from './harness/snippets.ts'
import { type Harness, startHarness } from './harness/start.ts'

const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
)
const hasArgon2 = python !== undefined && spawnSync(python, ['-c', 'import argon2']).status === 0

const folder = join(repository, 'docs', 'site')
const sections = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8')) as { section: string; pages: string[] }[]
/** The pages that a reader follows, in their order, after the README. */
const pages = [
  '../../README.md',
  ...sections.filter(({ section }) => ['Start', 'Guides', 'Recipes'].includes(section)).flatMap((section) => section.pages),
]
const contents = await Promise.all(pages.map(readPage))
const programs = contents.flatMap((page) => page.programs)

/** Blocks of these pages that are not run, by the words behind their fence, with the reason. */
const notRun: Record<string, string> = {
  'sh start': 'start.test.ts starts a server in this way.',
  'sh restart': 'The server has the setting from its start.',
  'sh settings': 'The runner sets these variables to its own server, key and commands.',
  'sh build': 'package-readmes.test.ts builds the packages.',
  'sh install': 'package-readmes.test.ts installs the packages.',
  'sh operator': 'These commands need a domain with DNS records, a relay, a certificate or an empty machine.',
  'sh excerpt': 'These lines have ids, files or addresses of the reader. Another test reads the commands in them.',
  'ts excerpt': 'These lines have values of the reader, or need a package that is not ours.',
  'python excerpt': 'These lines need a package that is not ours.',
  json: 'These are values, which are parsed.',
  ini: 'These are settings of other programs.',
  yaml: 'These are settings of other programs.',
  http: 'These are messages on the wire.',
  text: 'These are drawings.',
  '': 'These are formulas, records of DNS and the like.',
}

const needsArgon2 = ({ language, steps }: Program) => language === 'python' && steps.some(({ code }) => code.includes('.vault.'))
const languages: Language[] = ['curl', 'ts', 'python', 'cli']

const harnesses = new Map<Language, Harness>()
let workshop: Workshop
const prepared = new Map<Program, { file: string; words: Words }>()
beforeAll(async () => {
  workshop = await createWorkshop(python ?? null)
  for (const language of languages) {
    const harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
    harnesses.set(language, harness)
    const words = await wordsFor(harness)
    for (const program of programs.filter((one) => one.language === language))
      prepared.set(program, { file: await workshop.prepare(program, words), words })
  }
})
afterAll(async () => {
  for (const harness of harnesses.values()) await harness.stop()
  await workshop?.remove()
})

/** The addresses of this run. Nothing else of the pages is changed. */
async function wordsFor(harness: Harness): Promise<Words> {
  const [app, receiver] = await Promise.all([findFreePort(), findFreePort()])
  return [
    [/\b3000\b/g, String(app)],
    [/\b8787\b/g, String(receiver)],
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

/** Runs one page. Fails with the block whose output is not as documented. */
async function paste(program: Program, signal: AbortSignal): Promise<void> {
  const { file, words } = prepared.get(program)!
  const { baseUrl, organizationKey } = harnesses.get(program.language)!
  const ran = await workshop.run(file, program, { url: baseUrl, key: organizationKey }, signal)
  expect(ran.code, `${program.page}: ${ran.stderr}\nafter printing:\n${ran.outputs.join('')}`).toBe(0)
  expect(ran.outputs, program.page).toHaveLength(program.steps.length)
  for (const [index, { code, output }] of program.steps.entries()) {
    const printed = ran.outputs[index] as string
    if (output !== null && !contains(printed, replaceWords(output, words)))
      expect.fail(`${program.page}:\n${code}\nprinted\n${printed}\nwhich does not contain\n${output}`)
  }
}

const pasted: Program[] = []
for (const language of languages) {
  const isMissing = language === 'python' && !python
  const name = `every page in ${language}, from the first to the last${isMissing ? ' (skipped: Python 3.10 or later is not installed)' : ''}`
  const run = isMissing ? test.skip : test.concurrent
  run(
    name,
    async ({ signal }) => {
      for (const program of programs.filter((one) => one.language === language)) {
        if (needsArgon2(program) && !hasArgon2) continue
        await paste(program, signal)
        pasted.push(program)
      }
    },
    480_000,
  )
}

test.skipIf(!hasArgon2)(`the pages on the vault in Python${hasArgon2 ? '' : ' (skipped: argon2-cffi is not installed)'}`, () => {
  expect(pasted.filter(needsArgon2).length).toBeGreaterThan(1)
})

test('the TypeScript blocks type-check', async () => {
  expect(await workshop.typeCheck()).toBe('')
})

test('every example of the site is in all four languages', () => {
  const counts = contents.slice(1).flatMap(({ programs: own }) => {
    const numbers = (['curl', 'ts', 'python', 'cli'] as const).map(
      (language) => own.find((one) => one.language === language)?.steps.length ?? 0,
    )
    return new Set(numbers).size === 1 ? [] : [`${own[0]?.page}: ${numbers.join(', ')} blocks of curl, TypeScript, Python and CLI`]
  })
  expect(counts).toEqual([])
})

test('blocks that are not run are known, and JSON is valid', () => {
  for (const { page, fence, code } of contents.flatMap((content) => content.quoted)) {
    expect(notRun[fence], `${page}: a block with the fence "${fence}"`).toBeDefined()
    if (fence === 'json') expect(() => JSON.parse(code), code).not.toThrow()
    if (fence === 'sh settings') expect(code).toBe(settings)
  }
  expect(Object.keys(notRun).length).toBeGreaterThan(0)
})

const settings = `export PATH="$PWD/node_modules/.bin:$PATH"
export CALLSIGN_URL=http://localhost:8080
export CALLSIGN_API_KEY=svc_live_...`

/** The words of a line of a shell, up to a pipe, a redirection, a comment or the end of the command. */
function wordsOf(line: string): string[] {
  const words: string[] = []
  for (const [word] of line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)) {
    if (/^(?:[|&;<>]|#|\d?>)/.test(word)) break
    words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2').replace(/[;)]+$/, ''))
  }
  return words
}

test('commands of every document exist, with their options and arguments', () => {
  const documents = [
    'README.md',
    ...globSync(['docs/*.md', 'docs/site/**/*.md', 'packages/cli/README.md', 'skills/*/SKILL.md'], { cwd: repository }),
  ]
  const wrong = documents.flatMap((document) => {
    const text = readFileSync(join(repository, document), 'utf8').replaceAll('\\\n', ' ')
    return [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```/gm)]
      .flatMap(([, code = '']) => code.split('\n'))
      .filter((line) => /^callsign (?!\{)/.test(line))
      .flatMap((line) => {
        try {
          readCommandLine(wordsOf(line).slice(1), commands)
          return []
        } catch (error) {
          return [`${document}: ${line}: ${(error as Error).message}`]
        }
      })
  })
  expect(documents.length).toBeGreaterThan(30)
  expect(wrong).toEqual([])
})

test('readers never run the npm package of another project', () => {
  const documents = ['README.md', ...globSync(['docs/**/*.md', 'packages/*/README.md', 'skills/*/SKILL.md'], { cwd: repository })]
  const text = (document: string) => readFileSync(join(repository, document), 'utf8')
  expect(documents.filter((document) => /^npx callsignd? |`npx callsignd? \w/m.test(text(document)))).toEqual([])
})

test('every page is in the list of pages', () => {
  const listed = sections.flatMap((section) => section.pages).filter((page) => !page.startsWith('../'))
  expect(listed.toSorted()).toEqual(globSync('**/*.md', { cwd: folder }).toSorted())
})
