// Code blocks of the documentation: one figure per block, or one per group with a choice of language.
import type { Token } from 'marked'
import { type Html, html, type Piece } from '../../core/html.ts'

/** A fenced block. `lang` is everything behind the fence, such as `sh curl`. */
export type CodeBlock = { type: string; raw: string; lang?: string | undefined; text: string }

/** The languages that a reader chooses between. `fence` is the text behind the fence of their blocks. */
export const languages = [
  { id: 'curl', label: 'curl', fence: 'sh curl' },
  { id: 'ts', label: 'TypeScript', fence: 'ts' },
  { id: 'python', label: 'Python', fence: 'python' },
  { id: 'cli', label: 'CLI', fence: 'sh cli' },
] as const

/** One block in one of these languages. `id` is that of the language. */
export type Sample = { id: string; text: string }

const languageOf = (block: { lang?: string | undefined }) => languages.find(({ fence }) => fence === block.lang)

export const isSample = (token: Token): token is Token & CodeBlock => token.type === 'code' && languageOf(token as CodeBlock) !== undefined

const fenceLabels: Record<string, string> = {
  sh: 'Shell',
  js: 'JavaScript',
  json: 'JSON',
  text: 'Output',
  ini: 'INI',
  http: 'HTTP',
  yaml: 'YAML',
}

/** A block in a language that readers do not choose. */
export function codeFigure({ lang = '', text }: CodeBlock): Html {
  const name = lang.split(' ')[0] as string
  return html`<figure class="code"><figcaption><span>${fenceLabels[name] ?? name}</span></figcaption><pre tabindex="0"><code>${highlight(name, text)}</code></pre></figure>`
}

export const sampleGroup = (blocks: CodeBlock[]): Html =>
  sampleFigure(blocks.map((block) => ({ id: languageOf(block)?.id ?? '', text: block.text })))

/**
 * A group of samples. The style sheet shows the one in the chosen language. A language without a sample of its own shows `missing`, or
 * else the first sample.
 */
export function sampleFigure(samples: Sample[], missing?: (label: string) => string): Html {
  const absent = languages.filter(({ id }) => samples.every((sample) => sample.id !== id))
  const shown = samples.map(({ id, text }, index) => {
    const ids = index === 0 && !missing ? [id, ...absent.map((language) => language.id)] : [id]
    const language = languages.find((one) => one.id === id)
    return html`<pre tabindex="0" data-for="${ids.join(' ')}"><code>${highlight((language?.fence ?? '').split(' ')[0] as string, text)}</code></pre>`
  })
  const tabs = languages
    .filter(({ id }) => missing !== undefined || samples.some((sample) => sample.id === id))
    .map(({ id, label }) => html`<label for="lang-${id}">${label}</label>`)
  const notes = missing ? absent.map(({ id, label }) => html`<p data-for="${id}">${missing(label)}</p>`) : []
  return html`<figure class="code samples"><figcaption>${tabs}</figcaption>${shown}${notes}</figure>`
}

const keywords: Record<string, string> = {
  ts: 'import|from|export|const|let|await|async|new|for|of|if|else|return|function|while|throw|try|catch|finally|break|continue|typeof',
  python:
    'import|from|def|async|await|with|as|for|in|if|else|elif|return|while|raise|try|except|finally|break|continue|not|and|or|None|True|False|lambda',
}
keywords.js = keywords.ts as string

/** Comments and strings per language. A comment of a shell stands at the start of a line or behind a space. */
const strings = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`
const literals: Record<string, string> = {
  ts: String.raw`(?<comment>//[^\n]*)|(?<string>${strings}|${'`'}[^${'`'}]*${'`'})`,
  python: String.raw`(?<comment>#[^\n]*)|(?<string>[fr]?(?:${strings}))`,
  sh: String.raw`(?<comment>(?<=^|\s)#[^\n]*)|(?<string>"(?:[^"\\]|\\[\s\S])*"|'[^']*')`,
  json: `(?<string>${strings})`,
}
literals.js = literals.ts as string

/** The code with marks around comments, strings and keywords. */
export function highlight(language: string, code: string): Piece[] {
  const literal = literals[language]
  if (literal === undefined) return [code]
  const words = keywords[language]
  const pattern = new RegExp(words ? String.raw`${literal}|(?<keyword>\b(?:${words})\b)` : literal, 'gm')
  const pieces: Piece[] = []
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? ''
    pieces.push(code.slice(end, match.index), html`<span class="${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...pieces, code.slice(end)]
}
