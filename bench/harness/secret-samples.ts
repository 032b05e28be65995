// Reads the samples of secrets in the rule tests of gitleaks and detect-secrets. Secrets that gitleaks draws from a pattern are drawn here too.
// Samples of other expressions are left out and counted.
import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A text of the rule's tests. `isSecret` says what the rule's authors expect. */
export type Sample = { rule: string; text: string; isSecret: boolean }
export type Samples = { samples: Sample[]; leftOut: number }

type Token = { kind: 'text' | 'word' | 'sign' | 'line'; value: string }

const goForms =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|`([^`]*)`|"((?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'|(\n)|([A-Za-z_]\w*)|(:=|\.\.\.|[^\s\w])|\d+/g
const pythonForms =
  /#[^\n]*|(?:\b[uUbB]{1,2})?("""|''')([\s\S]*?)\1|(?:\b[uU])?(?:"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)')|([A-Za-z_]\w*)|([^\s\w])/g

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\n': '' }
const withoutEscapes = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, four, two, one) =>
    one === undefined ? String.fromCharCode(Number.parseInt(four ?? two, 16)) : (escapes[one] ?? one),
  )

function goTokens(source: string): Token[] {
  const tokens: Token[] = []
  for (const [, raw, quoted, line, word, sign] of source.matchAll(goForms)) {
    if (raw !== undefined) tokens.push({ kind: 'text', value: raw })
    else if (quoted !== undefined) tokens.push({ kind: 'text', value: withoutEscapes(quoted) })
    else if (line !== undefined) tokens.push({ kind: 'line', value: '' })
    else if (word !== undefined) tokens.push({ kind: 'word', value: word })
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign })
  }
  return tokens
}

const opens = (token: Token): boolean => token.kind === 'sign' && '([{'.includes(token.value)
const closes = (token: Token): boolean => token.kind === 'sign' && ')]}'.includes(token.value)

/** Splits tokens at a sign outside of brackets. */
function split(tokens: Token[], sign: string): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (opens(token)) depth++
    else if (closes(token)) depth--
    if (depth === 0 && token.kind === 'sign' && token.value === sign) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts.filter((part) => part.length > 0)
}

const textOf = (tokens: Token[]): string => tokens.map((token) => (token.kind === 'text' ? '""' : token.value)).join('')

/** The arguments of a call that the tokens are, or null. */
function argumentsOf(tokens: Token[], name: RegExp): Token[][] | null {
  const open = tokens.findIndex(opens)
  return open > 0 && name.test(textOf(tokens.slice(0, open + 1))) ? split(tokens.slice(open + 1, -1), ',') : null
}

/** Their names for the characters of a secret. */
const classes: Record<string, string> = {
  Numeric: '[0-9]',
  Hex: '[a-f0-9]',
  AlphaNumeric: '[a-z0-9]',
  AlphaNumericExtendedShort: '[a-z0-9_-]',
  AlphaNumericExtended: '[a-z0-9=_-]',
  AlphaNumericExtendedLong: '[a-z0-9/=_+-]',
}

/** The value of literals, and of secrets that are drawn from a pattern, joined by `+`. Null for anything else. */
function textValueOf(tokens: Token[]): string | null {
  const values = split(tokens, '+').map((part) => {
    if (part.length === 1 && part[0]?.kind === 'text') return part[0].value
    const drawn = argumentsOf(part, /^secrets\.NewSecret\($/)
    if (drawn?.length === 1) return draw(textValueOf(drawn[0] as Token[]))
    const size = argumentsOf(part, /^utils\.(\w+)\($/)
    const set = classes[part[2]?.value ?? '']
    return size?.length === 1 && set !== undefined ? `${set}{${textValueOf(size[0] as Token[])}}` : null
  })
  return values.length === 0 || values.includes(null) ? null : values.join('')
}

/** A random text of a pattern of characters, sets and counts. Null for a pattern with groups. */
function draw(pattern: string | null): string | null {
  if (pattern === null || /[()|*+?^$]/.test(pattern.replace(/\[[^\]]*\]|\\./g, ''))) return null
  return pattern.replace(/(\[[^\]]*\]|\\.|.)(?:\{(\d+)(?:,(\d*))?\})?/g, (_, set: string, least?: string, most?: string) => {
    if (set.length === 1) return set.repeat(Number(most || (least ?? 1)))
    const allowed = everyCharacter.filter((character) => new RegExp(`^${set}$`).test(character))
    return Array.from({ length: Number(most || (least ?? 1)) }, () => allowed[randomInt(allowed.length)]).join('')
  })
}

const everyCharacter = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))

/** The samples of an expression of Go: a list, `append`, or a helper that puts a secret in the place of a setting. Null for each other one. */
function goSamples(tokens: Token[]): (string | null)[] {
  const bare = tokens.filter((token) => token.value !== '...')
  const appended = argumentsOf(bare, /^append\($/)
  if (appended) return appended.slice(1).flatMap(goSamples)
  const listed = bare[0]?.value === '[' ? bare.slice(4, -1) : null
  if (listed) return split(listed, ',').flatMap(goSamples)
  const placed = argumentsOf(bare, /^utils\.GenerateSampleSecrets?\($/)
  if (placed) {
    const [name, secret] = placed.map(textValueOf)
    return [name == null || secret == null ? null : `${name}_api_token = "${secret}"`]
  }
  return [textValueOf(bare)]
}

/** The samples of gitleaks: the lists `tps` and `fps` of each rule in a checkout. */
export function readGitleaks(folder: string): Samples {
  const samples: Sample[] = []
  let leftOut = 0
  for (const file of globSync('cmd/generate/config/rules/*.go', { cwd: folder }).sort()) {
    const tokens = goTokens(readFileSync(join(folder, file), 'utf8'))
    let rule = basename(file, '.go')
    for (let index = 0; index + 2 < tokens.length; index++) {
      const [first, second, third] = tokens.slice(index, index + 3) as [Token, Token, Token]
      if (first.value === 'RuleID' && third.kind === 'text') rule = third.value
      if (first.kind !== 'word' || !/^[tf]ps$/.test(first.value) || !/^:?=$/.test(second.value)) continue
      const expression = statementAt(tokens, index + 2)
      for (const text of goSamples(expression))
        if (text === null) leftOut++
        else samples.push({ rule, text, isSecret: first.value === 'tps' })
    }
  }
  return { samples, leftOut }
}

/** The tokens from here to the end of the line that closes all brackets. */
function statementAt(tokens: Token[], from: number): Token[] {
  const found: Token[] = []
  let depth = 0
  for (const token of tokens.slice(from)) {
    if (opens(token)) depth++
    else if (closes(token)) depth--
    if (token.kind !== 'line') found.push(token)
    else if (depth === 0) break
  }
  return found
}

/** The samples of detect-secrets: the pairs of a text and True or False in its tests of plugins. */
export function readDetectSecrets(folder: string): Samples {
  const samples: Sample[] = []
  let leftOut = 0
  for (const file of globSync('tests/plugins/*_test.py', { cwd: folder }).sort()) {
    const rule = basename(file, '_test.py')
    let texts: string[] = []
    let before = ''
    for (const match of readFileSync(join(folder, file), 'utf8').matchAll(pythonForms)) {
      const [, triple, block, double, single, word, sign] = match
      const text = triple === undefined ? (double ?? single) : block
      if (text !== undefined) texts.push(withoutEscapes(text))
      else if (word === 'True' || word === 'False') {
        if (texts.length > 0 && before === ',') samples.push({ rule, text: texts.join(''), isSecret: word === 'True' })
        else if (before === ',') leftOut++
        texts = []
      } else if (sign !== undefined && sign !== ',') texts = []
      else if (word !== undefined) texts = []
      if (sign !== undefined || text !== undefined || word !== undefined) before = sign ?? ''
    }
  }
  return { samples, leftOut }
}
