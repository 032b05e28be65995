// Finds one-time codes and confirmation links in a message.
import type { Code } from '@callsign/contract/codes'
import { findConfirmationLinks } from './confirmation-links.ts'
import { findOneTimeCodes } from './one-time-codes.ts'

/** Searched characters of a text. Codes and links occur near the beginning. */
const textCharactersMax = 16_000

/** Results per kind. */
const ofKindMax = 5

/**
 * Finds one-time codes and confirmation links in a text message or a mail, the likeliest of each kind first, at most five per kind. Searches the first
 * 16,000 characters of `text`, which is plain text. In text from HTML, a link follows its label as `<address>`. Never throws. Linear.
 */
export function findCodes({ subject = '', text }: { subject?: string; text: string }): Code[] {
  const body = text.slice(0, textCharactersMax)
  const title = subject.slice(0, 500)
  return [...findOneTimeCodes(title, body).slice(0, ofKindMax), ...findConfirmationLinks(title, body).slice(0, ofKindMax)]
}

const hintPattern =
  /code|codi|códi|kod|kód|pin\b|otp|passw|verif|confirm|activ|sign|log ?in|reset|bestätig|anmeld|vérif|conect|connex|код|парол|подтвер|вход|コード|認証|確認|パスワード|码|碼|验证|驗證|코드|인증|رمز|كود/

/** True when the HTML of a mail may contain a code that its plain text lacks: the text is short, or the subject announces a code or a link. */
export const isWorthASecondLook = (subject: string, text: string): boolean => text.length < 1000 || hintPattern.test(subject.toLowerCase())
