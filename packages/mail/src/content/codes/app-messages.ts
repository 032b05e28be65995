// Finds the code of a text message without words for it: for Android's SMS Retriever, with a link that opens an app, or the code alone.
import type { Code } from '@callsign/contract/codes'
import { findCandidates } from './candidates.ts'
import { purposeOf } from './purposes.ts'
import { hasAppHash, withoutAppHash } from './readable.ts'

/** SMS Retriever reads messages of at most 140 bytes. Links make some longer. */
const charactersMax = 200

/** A link such as "weave://verify/482-913" or "weave://login?code=482913". */
const appLink =
  /(?<![\w/])(?!https?:)[a-z][a-z\d+.-]{1,30}:\/\/[\w./?=&-]{0,60}?(?:verif\w*|confirm|login|signin|auth|otp|code)[/?=][\w./?=&-]{0,40}?(\d[\d-]{2,8}\d)(?![\w-])/i

/** A text message that is only a code, as some services send. Four or eight digits in a row are also years, days and telephone numbers. */
const bareCode = /^\s*(?:\d{6}|\d{3}-\d{3}|\d{4}-\d{4})\s*$/

const yearOrDay = /^(?:19|20)\d\d$|^20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/

/** The only number of a short message with the hash of an app, or with a link that gives the same number to an app. A text message has no subject. `text` is readable. */
export function findAppCode(subject: string, text: string): Code | null {
  if (text.length > charactersMax) return null
  const link = appLink.exec(text)
  const isBare = subject === '' && bareCode.test(text)
  if (!link && !isBare && !hasAppHash(text)) return null
  const words = withoutAppHash(link ? text.replace(link[0], '') : text)
  const [only, ...others] = findCandidates(words).filter(({ isDigits }) => isDigits)
  if (!only || only.isDoubtful || others.length > 0 || yearOrDay.test(only.value)) return null
  if (link && link[1]?.replaceAll('-', '') !== only.value) return null
  return {
    kind: 'one_time_code',
    value: only.value,
    purpose: purposeOf(text.toLowerCase()),
    near: words.replace(/\s+/g, ' ').trim(),
    domain: null,
  }
}
