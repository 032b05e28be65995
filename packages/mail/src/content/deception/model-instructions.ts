// Finds prompt injection by known phrases. A match is an indicator, not proof.
import { isAscii } from '../../text/ascii.ts'
import { latinLike } from './lookalike-domains.ts'

const textCharactersMax = 200_000
const windowCharacters = 400
const windowsMax = 150

// Keywords of the phrases below. Only text around a keyword is searched. In three parts, because the shortest word limits how far a search may skip.
// No keyword begins within another.
const keywords = [
  /ignor|disregard|forget|override|bypass|language model|chatbot|system prompt|developer mode|(?:do not|don't|never|without) (?:tell|inform|mention|reveal|notif|alert|disclos)/g,
  /\b(?:ai|llm|a\.i\.)\b/g,
  /<\||\[\/?inst\]|<<\/?sys>>|忽略|無視/g,
]
// A first check for keywords, before white space is normalized. Short keywords are separate here too.
const longKeywords =
  /ignor|disregard|forget|override|bypass|language\s+model|chatbot|system\s+prompt|developer\s+mode|(?:do\s+not|don't|never|without)\s+(?:tell|inform|mention|reveal|notif|alert|disclos)/
const shortKeywords = /\b(?:ai|llm|a\.i\.)\b/
const marks = ['<|', '[inst]', '[/inst]', '<<sys>>', '<</sys>>', '忽略', '無視']

const holdsKeyword = (folded: string): boolean =>
  longKeywords.test(folded) || shortKeywords.test(folded) || marks.some((mark) => folded.includes(mark))

const words = (count: number): string => `(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}']+){0,${count}}?[^\\p{L}\\p{N}]+`
const model =
  '(?:ai|a\\.i\\.|llm|large language model|language model|chatbot|(?:ai|virtual|automated|digital|autonomous) (?:assistant|agent|system|model|bot))'

const overrides = new RegExp(
  `\\b(?:ignore|disregard|forget|override|bypass)\\b(?:${words(4)}(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial)\\b${words(3)}` +
    `(?:instructions?|prompts?|directives?|directions|guidelines|rules|programming|commands?)|${words(2)}(?:all|any|your)${words(2)}(?:instructions?|prompts?|programming))\\b` +
    `(?![^\\p{L}\\p{N}]+(?:from|regarding|about|concerning|sent|we|i|in|on)\\b)`,
  'u',
)

const strong: RegExp[] = [
  /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id)\|>|\[\/?inst\]|<<\/?sys>>/,
  new RegExp(
    `\\bif (?:you are|you're) (?:an? |the )?${model}s?\\b(?:${words(2)}(?:reading|processing|summari[sz]ing|parsing|handling|then|please)\\b| *,)`,
    'u',
  ),
  new RegExp(
    `\\b(?:attention|note|notice|message|instructions?|hello|hi|dear)[ ,:]+(?:to |for )?(?:any |all |the )?${model}s?(?: (?:that (?:is|are) )?(?:reading|processing|summari[sz]ing|parsing|handling)\\b| ?:)`,
  ),
  /ignorier\w*\s+(?:sie\s+)?(?:bitte\s+)?(?:alle\s+)?(?:deine\s+|ihre\s+|die\s+)?(?:vorherigen|bisherigen|obigen|vorigen|vorangegangenen)\s+(?:anweisungen|instruktionen|befehle)/,
  /ignor(?:e|ez|er)\s+(?:toutes\s+)?(?:les\s+|tes\s+|vos\s+)?(?:instructions|consignes)\s+(?:précédentes|antérieures|ci-dessus)/,
  /ignor(?:a|ad|ar|e|en)\s+(?:todas\s+)?(?:las\s+|tus\s+)?instrucciones\s+(?:anteriores|previas)/,
  /忽略(?:之前|以上|先前|前面|所有|上述)[^。\n]{0,10}(?:指令|指示|提示|说明)/,
  /(?:以前|これまで|上記)の[^。\n]{0,8}(?:指示|命令)[^。\n]{0,6}無視/,
]

// Weak phrases. Two of different kinds count, when one of them is secrecy or a demand.
const weak: { kind: 'role' | 'secrecy' | 'demand' | 'prompt'; pattern: RegExp }[] = [
  {
    kind: 'role',
    pattern: new RegExp(
      `\\byou are (?:now )?(?:an? )?(?:${model}|unrestricted|jailbroken|in developer mode)|\\b(?:act as|pretend to be|you are now)\\b`,
    ),
  },
  {
    kind: 'secrecy',
    pattern: new RegExp(
      `\\b(?:do not|don't|never|without)[^\\p{L}]+(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|disclose|disclosing)\\b${words(5)}(?:user|human|owner|operator|principal)s?\\b`,
      'u',
    ),
  },
  {
    kind: 'demand',
    pattern: new RegExp(
      `\\b(?:reveal|print|repeat|output|send|forward|reply with|upload|post|exfiltrate)\\b${words(6)}(?:system prompt|api keys?|passwords?|credentials|secrets|access tokens?|private keys?|conversation history|inbox|(?:all|every|recent|latest|last)${words(2)}(?:emails?|messages|mails|contacts))\\b`,
      'u',
    ),
  },
  { kind: 'prompt', pattern: /\b(?:system prompt|your (?:instructions|guidelines|programming)|new instructions ?:)/ },
]

const quoteBefore = /["'\u2018\u2019\u201c\u201d\u00ab\u00bb`][^\p{L}\p{N}]{0,3}$/u
const negationBefore = /\b(?:never|not|n't|avoid|nobody|no one|nor)\b[^.!?]{0,30}$/

/** The instructions to a model in a text, or null. Time is bounded for any text. */
export function findModelInstructions(text: string): string | null {
  const folded = fold(text.slice(0, textCharactersMax))
  if (!holdsKeyword(folded)) return null
  const read = withEvenSpace(folded)
  const places = keywords.map((pattern) => new Places(pattern, read))
  let windows = 0
  // Skips text that was searched around the last keyword.
  for (let from = 0; ; ) {
    const at = Math.min(...places.map((one) => one.next(from)))
    if (at === Number.POSITIVE_INFINITY || ++windows > windowsMax) return null
    from = at + windowCharacters / 2
    const found = findIn(read.slice(Math.max(0, at - windowCharacters / 2), at + windowCharacters))
    if (found !== null) return found
  }
}

/** The matches of a pattern in a text, for increasing offsets. */
class Places {
  readonly #pattern: RegExp
  readonly #text: string
  #found = -1

  constructor(pattern: RegExp, text: string) {
    this.#pattern = pattern
    this.#text = text
  }

  /** The first match at or after this offset. Infinity without one. */
  next(from: number): number {
    if (this.#found >= from) return this.#found
    this.#pattern.lastIndex = from
    this.#found = this.#pattern.exec(this.#text)?.index ?? Number.POSITIVE_INFINITY
    return this.#found
  }
}

/** Each run of white space as one blank. Line ends are replaced separately, because they are the most common and that is faster. */
function withEvenSpace(text: string): string {
  const line = text.replace(/\n\s*/g, ' ')
  const uneven = isAscii(line) ? /[\t\v\f\r]| {2}/ : /[^\S ]| {2}/
  return uneven.test(line) ? line.replace(/[^\S ]\s*| \s+/g, ' ') : line
}

function findIn(text: string): string | null {
  for (const pattern of strong) {
    const match = pattern.exec(text)
    if (match) return around(text, match)
  }
  const override = overrides.exec(text)
  // A phrase in quotation marks is rather a mention than an instruction.
  const isQuoted = override !== null && quoteBefore.test(text.slice(0, override.index))
  if (override && !isQuoted) return around(text, override)
  const kinds = new Map<string, RegExpExecArray>()
  for (const { kind, pattern } of weak) {
    const match = pattern.exec(text)
    if (!match) continue
    if (kind === 'demand' && negationBefore.test(text.slice(0, match.index))) continue
    kinds.set(kind, match)
  }
  const demand = kinds.get('demand')
  const telling = kinds.get('secrecy') ?? demand
  // A demand for the system prompt is one indicator, not two.
  if (demand?.[0].includes('system prompt') && kinds.get('prompt')?.[0] === 'system prompt') kinds.delete('prompt')
  return telling && kinds.size + (isQuoted ? 1 : 0) >= 2 ? around(text, telling) : null
}

const around = (text: string, match: RegExpExecArray): string =>
  text.slice(Math.max(0, match.index - 40), match.index + match[0].length + 80).trim()

/** Normalizes all but white space: compatibility forms, homoglyphs, lower case, without invisible characters. */
const fold = (text: string): string =>
  isAscii(text)
    ? text.toLowerCase()
    : latinLike(
        text
          .normalize('NFKC')
          .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
          .toLowerCase(),
      )
