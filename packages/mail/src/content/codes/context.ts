// The topic of a message. Travel, meetings and shops have codes of their own.
import type { Hit } from './code-phrases.ts'

/** A normalized text: single spaces, ASCII dashes and digits. `lower` is in lower case, with spaces for dashes and line ends. */
export type Page = { text: string; lower: string; hits: Hit[] }

/** Topics with numbers of their own. `titleHit` is the last phrase of the subject that marks a code. */
export type Context = { isTravel: () => boolean; isMeeting: () => boolean; isShop: () => boolean; titleHit: Hit | null }

const travel =
  /\b(?:flight|itinerary|boarding|reservation|check[ -]in|check[ -]out|hotel|departure|airline|pnr)\b|\bflug\b|buchungsbestätigung|\bvuelo\b|\bvol\b|予約|航班|항공/
const meeting =
  /\b(?:meeting id|webinar id|conference id|dial[ -]in|join (?:the )?(?:meeting|call|webinar|conference)|meeting number)|besprechungs-?id|meeting-id|id de (?:la )?reuni[óo]n|ミーティング ?id|会议号|会議番号/
const shop =
  /\b(?:% off|free shipping|at checkout|discount|promo|coupon|voucher|sale ends|gift card)\b|rabatt|gutschein|gratis versand|descuento|cupón|desconto|cupom|remise|-\d{1,2} ?%|скидк|промокод|割引|クーポン|优惠|折扣|할인/

/** The context of a text and its subject. */
export function contextOf(title: Page, page: Page): Context {
  const all = `${title.lower}\n${page.lower}`
  return {
    isTravel: once(() => travel.test(all)),
    isMeeting: once(() => meeting.test(all)),
    isShop: once(() => shop.test(all)),
    titleHit: title.hits.findLast((hit) => hit.kind === 'strong' || hit.kind === 'weak') ?? null,
  }
}

/** Computes an answer once, on first use. */
function once(ask: () => boolean): () => boolean {
  let answer: boolean | null = null
  return () => {
    answer ??= ask()
    return answer
  }
}

/** True when a phrase marks a one-time code in this context. */
export const isCode = (hit: Hit, context: Context): boolean => {
  if (hit.kind !== 'strong' && hit.kind !== 'weak') return false
  if (
    context.isTravel() &&
    (hit.kind === 'weak' || /^(?:confirmation|bestätigungs|code de confirmation|código de confirma|access|確認)/.test(hit.phrase))
  )
    return false
  if (context.isMeeting() && !/verif|secur|sign|log|auth|one time|2fa|otp/.test(hit.phrase)) return false
  return !(hit.kind === 'weak' && context.isShop())
}
