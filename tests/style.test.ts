// How the repository is written: each retired wording and name is counted, and the counts may only fall.
import { describe, expect, test } from 'vitest'
import { readPassages, sentencesOf, wordsIn } from './style/passages.ts'
import { findPlaces, proseRules } from './style/prose-rules.ts'
import { countAll, failureOf, isFarBelow, readRecorded, retiredNameRule } from './style/ratchet.ts'
import { findRetiredNames, replacementFor } from './style/retired-names.ts'
import { folderOf, readSources, type Source } from './style/sources.ts'

const rules = [...Object.keys(proseRules), retiredNameRule]

describe('the repository', () => {
  const recorded = readRecorded()
  const { words, findings } = countAll(readSources())

  test('is read', () => {
    expect(words).toBeGreaterThan(10_000)
    expect(Object.keys(recorded).toSorted()).toEqual(rules.toSorted())
  })

  test.each(rules)('%s: not more than recorded', (name) => {
    const failure = failureOf(name, findings[name]!, recorded[name]!)
    if (failure) expect.fail(failure)
  })

  test('recorded numbers follow the measured ones', () => {
    const far = rules.filter((name) => isFarBelow(findings[name]!, recorded[name]!))
    if (far.length > 0) console.log(`Fewer places than recorded: ${far.join(', ')}. Record them: sh bin/run tests/style/list.ts --record`)
  })
})

const source = (text: string, language: Source['language'] = 'ts', path = `packages/server/src/sample.${language}`): Source => ({
  path,
  text,
  language,
})
const linesOf = (rule: string, sample: Source) => findPlaces(readPassages(sample), proseRules[rule]!).map((place) => place.line)

describe('each rule finds its wording in a comment, with its line', () => {
  const samples: [string, string][] = [
    ['opening', '// Starts here. Whose turn it is.\nconst a = 1\n// How long.'],
    ['what', '// Stores what came.\n\n// Stores what stayed.'],
    ['who', '/** The one who asks. */\n\n/** Read by nobody. */'],
    ['is-no', '// This is no address.\n// It is no longer used.\n// That is no list.'],
    ['so-long', '// Waits so long.\n//\n// Takes so many.'],
    ['trouble', '// The trouble.\n\n// Troubles follow.'],
    ['tells', '// It tells.\n\n// It was told.'],
    ['anew', '// Starts anew.\n\n// Encrypts anew.'],
    ['lest', '// Waits, lest it fail.\n\n// Lest it end.'],
    ['mend', '// Mended.\n\n// Mends mail.'],
    ['nobody', '// Somebody waits.\n\n// Whoever asks.'],
    ['dawdle', '// A client dawdles.\n\n// Dawdling clients.'],
    ['semicolon', '// One; two.\nconst a = 1;\n// One;\n// two.'],
    ['colon', '// One: two.\nconst b: number = 1\n// One: two.'],
    ['long-sentence', `// ${'word '.repeat(31)}.\n\n// ${'word '.repeat(31)}`],
    ['closed-reference', '// Limit (decisions §3).\n\n// As the specification has it.'],
    ['retired-term', '// A visitor.\n\n// Old crumbs.'],
  ]
  test.each(samples)('%s', (rule, text) => {
    expect(linesOf(rule, source(text))).toEqual([1, 3])
  })
  test('every rule has its sample', () => {
    expect(samples.map(([rule]) => rule)).toEqual(Object.keys(proseRules))
  })
})

describe('prose is read, code is not', () => {
  const found = (rule: string, text: string, language?: Source['language'], path?: string) => linesOf(rule, source(text, language, path))

  test('names, calls, URLs and code spans', () => {
    expect(found('trouble', '// `trouble` in trouble_at, trouble(), isTrouble and https://trouble.example/trouble.')).toEqual([])
    expect(found('trouble', 'const trouble = () => trouble.trouble')).toEqual([])
  })

  test('strings with three words are messages; shorter ones, SQL and markup are not', () => {
    expect(found('trouble', "throw new Error('there was trouble')")).toEqual([1])
    expect(found('trouble', "emit('trouble', 'trouble here')")).toEqual([])
    expect(found('trouble', 'query(`SELECT trouble, told_at FROM sends`)')).toEqual([])
    expect(found('trouble', "page('<p>there was some trouble</p>')")).toEqual([])
  })

  test('a template keeps its lines, and its expressions are not words', () => {
    expect(found('trouble', 'const help = `Usage: a command.\n\n  the $' + '{trouble} is here\n  the trouble is $' + '{here}`')).toEqual([
      4,
    ])
  })

  test('comment signs in strings and regular expressions start no comment', () => {
    expect(found('trouble', "const a = '// trouble'\nconst b = /\\/* trouble/\nconst c = `// trouble`")).toEqual([])
  })

  test('the test names of a test count, its sample data does not', () => {
    const text = "test('a letter of trouble', async () => {\n  expect(await send('here comes some trouble')).toBe('a lot of trouble')\n})"
    expect(found('trouble', text, 'ts', 'packages/server/tests/sample.test.ts')).toEqual([1])
    const each = "test.each(['there is some trouble'])('a %s of trouble', (text) => {})"
    expect(found('trouble', each, 'ts', 'packages/server/tests/sample.test.ts')).toEqual([1])
  })

  test('SQL: comments after --, not statements', () => {
    expect(found('tells', "-- Told once.\nSELECT told FROM a -- told twice\nWHERE b = '-- told'", 'sql')).toEqual([1, 2])
  })

  test('Markdown: text, headings and cells, not code blocks and link targets', () => {
    const text = '# Trouble\n\n```sh\ntrouble\n```\n\n| a | trouble |\n|---|---|\n| `trouble` | b |\n\n- [a](trouble.md)\n- trouble'
    expect(found('trouble', text, 'md')).toEqual([1, 7, 12])
  })

  test('a colon before a list, a code block or an inserted value is not counted', () => {
    expect(found('colon', 'Run these:\n\n```sh\nls\n```\n\nFor example: this.', 'md')).toEqual([7])
    expect(found('colon', 'throw new Error(`cannot read the file: $' + '{reason}`)')).toEqual([])
  })
})

test('sentences end at a full stop before a capital', () => {
  expect(sentencesOf('One. Two (three). `four` e.g. five? Six').map((sentence) => sentence.text)).toEqual([
    'One.',
    'Two (three). `four` e.g. five?',
    'Six',
  ])
  expect(wordsIn("it's 10 words-long, or 3")).toBe(3)
})

describe('retired names', () => {
  test('are found in every spelling, where the term is retired', () => {
    expect(replacementFor('toldAt', 'a.ts')).toBe('delivered_at, listUndelivered')
    expect(replacementFor('told_at', 'a.sql')).toBe('delivered_at, listUndelivered')
    expect(replacementFor('ProviderTrouble', 'a.ts')).toBe('error, failure')
    expect(replacementFor('fresh-letters', 'a.ts')).toBe('message')
    expect(replacementFor('Hop', 'a.ts')).toBe('delivery result, next hop')
    expect(replacementFor('visitorReady', 'edges/tunnel/a.ts')).toBe('public request, proxied request')
  })

  test('leave the terms of the field alone', () => {
    for (const name of ['hop', 'usesLetters', 'letterCount', 'gateway', 'carrier', 'exchange', 'splice', 'settleMs', 'allSettled'])
      expect(replacementFor(name, 'packages/server/src/features/phones/a.ts'), name).toBeNull()
  })

  test('count once per file, with the names of files and folders', () => {
    const sample = source('const trouble = 1\nconst chores = trouble', 'ts', 'packages/server/src/shelf/quads.test.ts')
    expect(findRetiredNames([sample]).map((place) => `${place.path}:${place.line}`)).toEqual([
      'packages/server/src/shelf:1',
      'packages/server/src/shelf/quads.test.ts:1',
      'packages/server/src/shelf/quads.test.ts:1',
      'packages/server/src/shelf/quads.test.ts:2',
    ])
  })
})

describe('the ratchet', () => {
  const places = [1, 2, 3].map((line) => ({ path: 'a.ts', line, excerpt: 'the trouble' }))

  test('a count above the recorded one fails with rule, places and remedy', () => {
    const failure = failureOf('trouble', { places, perThousand: 1 }, { count: 2, perThousand: 9, target: 0 })
    expect(failure).toContain('style rule "trouble": 3 places, 2 recorded')
    expect(failure).toContain('a.ts:1  the trouble')
    expect(failure).toContain('remedy: Write "error" or "failure"')
    expect(failureOf('trouble', { places, perThousand: 1 }, { count: 3, perThousand: 0, target: 0 })).toBeNull()
  })

  test('a rate rule fails only when there are more of them and they stand closer together', () => {
    expect(failureOf('colon', { places, perThousand: 1 }, { count: 2, perThousand: 1, target: 0 })).toBeNull()
    expect(failureOf('colon', { places, perThousand: 2 }, { count: 2, perThousand: 1, target: 0 })).toContain('2 per 1,000 words against 1')
    expect(failureOf('colon', { places, perThousand: 2 }, { count: 2, perThousand: 1, target: 2 })).toBeNull()
    expect(failureOf('colon', { places, perThousand: 3 }, { count: 2, perThousand: 1, target: 2 })).toContain('3 per 1,000 words against 2')
  })

  test('folders are a feature or an edge, and three levels elsewhere', () => {
    expect(folderOf('packages/server/src/features/mail/messages/store.ts')).toBe('packages/server/src/features/mail/messages')
    expect(folderOf('packages/cli/src/commands/mail.ts')).toBe('packages/cli/src/commands')
    expect(folderOf('README.md')).toBe('.')
  })
})
