// Finds what a message asks its reader to type or to open. Pure, of bounded time, and never throws.
import type { Code } from '@callsign/contract/codes'
import { findConfirmationLinks } from './confirmation-links.ts'
import { findOneTimeCodes } from './one-time-codes.ts'

/** What is looked through; mail says what it wants near its beginning. */
const textCharactersMax = 16_000

/** More of a kind than this is a list of numbers, not a request. */
const ofKindMax = 5

/**
 * One-time codes and confirmation links in a text message or a mail, the likeliest of each kind first. `text` is plain text; where it
 * comes from HTML, a link stands behind its label as `<address>`.
 */
export function findCodes({ subject = '', text }: { subject?: string; text: string }): Code[] {
  const body = text.slice(0, textCharactersMax)
  const title = subject.slice(0, 500)
  return [...findOneTimeCodes(title, body).slice(0, ofKindMax), ...findConfirmationLinks(title, body).slice(0, ofKindMax)]
}

const hintPattern =
  /code|codi|códi|kod|kód|pin\b|otp|passw|verif|confirm|activ|sign|log ?in|reset|bestätig|anmeld|vérif|conect|connex|код|парол|подтвер|вход|コード|認証|確認|パスワード|码|碼|验证|驗證|코드|인증|رمز|كود/

/** True when the HTML of a mail may say more than its plain text does: the text is a stub, or the subject announces what it does not hold. */
export const isWorthASecondLook = (subject: string, text: string): boolean => text.length < 1000 || hintPattern.test(subject.toLowerCase())
