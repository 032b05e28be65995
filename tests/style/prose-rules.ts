// The prose rules: the wordings that each one finds, and the remedy that a failure prints.
import { type Passage, sentencesOf, wordsIn } from './passages.ts'

export type Place = { path: string; line: number; excerpt: string }
export type ProseRule = {
  /** `rate` rules may also be kept by their number per 1,000 words, so that new prose may use some. */
  measure: 'count' | 'rate'
  remedy: string
  find: (passage: Passage) => { at: number }[]
}

const matching =
  (pattern: RegExp) =>
  (passage: Passage): { at: number }[] =>
    [...passage.text.matchAll(pattern)].map((match) => ({ at: match.index }))

const sentenceWordsMax = 30

export const proseRules: Record<string, ProseRule> = {
  opening: {
    measure: 'count',
    remedy: 'Start with the noun or the verb: "Accepts queued connections before …", not "What a server does before …".',
    find: (passage) => sentencesOf(passage.text).filter((sentence) => /^(what|who|whose|whether|how)\b/i.test(sentence.text)),
  },
  what: {
    measure: 'rate',
    remedy: 'Name the thing: "queued deliveries", not "what waits".',
    find: matching(/\bwhat\b/gi),
  },
  who: {
    measure: 'rate',
    remedy: 'Name the role: sender, caller, operator, reader.',
    find: matching(/\b(who|whoever|nobody)\b/gi),
  },
  'is-no': {
    measure: 'count',
    remedy: 'Write "is not a"; "cannot …" instead of "is no … to be had".',
    find: matching(/\bis no\b(?! longer\b)/gi),
  },
  'so-long': {
    measure: 'count',
    remedy: 'Name the number or its setting: "after `idleMs`", "10 seconds".',
    find: matching(/\bso (long|many)\b/gi),
  },
  trouble: { measure: 'count', remedy: 'Write "error" or "failure", and which one.', find: matching(/\btroubles?\b/gi) },
  tells: { measure: 'count', remedy: 'Machines return, report, store or reject.', find: matching(/\b(tells|told)\b/gi) },
  anew: { measure: 'count', remedy: 'Write "again", or the verb with re-: "re-encrypt".', find: matching(/\banew\b/gi) },
  lest: { measure: 'count', remedy: 'Write "so that … not".', find: matching(/\blest\b/gi) },
  mend: { measure: 'count', remedy: 'Write "fix", "repair" or "correct".', find: matching(/\bmend(s|ed|ing)?\b/gi) },
  nobody: {
    measure: 'count',
    remedy: 'Name the role that does, or does not, act: "no client is connected".',
    find: matching(/\b(nobody|somebody|whoever)\b/gi),
  },
  dawdle: { measure: 'count', remedy: 'Write "slow", or name the time limit.', find: matching(/\bdawdl(e|es|ed|er|ers|ing)\b/gi) },
  semicolon: { measure: 'rate', remedy: 'Write two sentences.', find: matching(/;(?=\s|$)/g) },
  colon: {
    measure: 'rate',
    remedy: 'Write two sentences, or name the relation: "because", "so that", "for example".',
    // A colon that ends a paragraph introduces a list or code; one before an inserted value belongs to the format.
    find: matching(/:(?=[*_"”)]*\s+[^\s◦])/g),
  },
  'long-sentence': {
    measure: 'count',
    remedy: `Split it: at most ${sentenceWordsMax} words, one fact per sentence.`,
    find: (passage) => sentencesOf(passage.text).filter((sentence) => wordsIn(sentence.text) > sentenceWordsMax),
  },
  'closed-reference': {
    measure: 'count',
    remedy: 'Refer only to what a reader of the repository can open. State the reason in place.',
    find: matching(/\bdecisions? §|\bthe specifications?\b|\bthe plan\b(?! (of|for)\b)|\(spec\b|\bthe spec\b|\bspec "|\b(a|the) study\b/gi),
  },
  'retired-term': {
    measure: 'count',
    remedy: 'Use the term of the field (docs/development/style.md): message, public request, chunk, scheduled task, architecture …',
    find: matching(
      /\b(letters? (is|was|from|to|for|arrives?|comes?|came|waits?|goes|went)|visitors?|crumbs?|quads|eras|chores|farewells?|likeness|shelf|shelves|leftovers|house rules?|rules of the house|patience|pokes?|poked|hurr(y|ies|ied))\b/gi,
    ),
  },
}

/** Every place where a rule's wording occurs. */
export function findPlaces(passages: Passage[], rule: ProseRule): Place[] {
  return passages.flatMap((passage) =>
    rule.find(passage).map(({ at }) => {
      const before = passage.text.slice(0, at)
      const line = passage.line + (before.match(/\n/g)?.length ?? 0)
      const excerpt = passage.text
        .slice(Math.max(0, at - 30), at + 70)
        .replace(/\s+/g, ' ')
        .trim()
      return { path: passage.path, line, excerpt }
    }),
  )
}
