// Phrases beside links that undo, cancel, report, reject or unsubscribe, by language.

const undo = [
  "\\b(?:cancel|undo|revoke|revert|withdraw|unsubscrib|unregister|opt[ -]?out|report|reject|declin|deny|disavow|dispute|stop this|block this|disable this|(?:was|is)n't (?:you|me)|not (?:you|me)\\b)",
  // German, Dutch
  'abbrech|abzubrech|stornier|widerruf|rückgängig|abbestell|abmeld|abzumeld|austrag|ablehn|abzulehn|zurückzieh|zurückweis|zurückzunehm|\\bmelden\\b|missbrauch|nicht (?:von )?(?:ich|du|sie|mir|ihnen|dir)\\b',
  'annuler|intrek|in te trek|herroep|ongedaan|afmeld|uitschrijv|rapporteer|weiger|afwijz|misbruik',
  // French, Spanish, Portuguese, Italian, Romanian, Catalan
  "annul|révoqu|désabonn|désinscri|\\bsignal(?:er|ez)|refus|rejet|rétract|n'êtes pas à l'origine|ce n'(?:est|était) pas (?:vous|moi)",
  'cancel|\\banul|revoc|(?:darse|darte|dar|date|darme) de baja|denunci|\\breport|rechaz|deshac|no (?:fuiste|fue|he sido|fui) (?:tú|usted|yo)',
  'revog|descadast|\\brecus|rejeit|desfaz|não (?:foi|fui) (?:você|eu)|annull|disiscri|segnal|rifiut|disdi|anulați|anulează|dezabon|respinge|raport',
  // Polish, Czech, Slovak, Croatian, Serbian, Slovenian, Bulgarian, Hungarian
  'anuluj|anulow|cofnij|cofną|odwoł|wypis|zrezygn|zgłoś|zgłos|odrzuć|odrzuc|zruš|odvol|odhlás|nahlás|zamít|odmít|odmiet|otkaž|otkazati|poništ|odjav|preklič|prekliči|откажи|отписв',
  'visszavon|leiratkoz|elutasít|törlés|törölj|mégse|bejelent(?:se|em) (?:a )?vissza',
  // Nordic and Baltic languages
  'avbryt|ångra|återkalla|avregistrera|rapporter|avvis|neka\\b|annull|fortryd|\\bangre|tilbagekald|tilbakekall|trekk tilbake|avmeld|framel|peruut|peruak|kumoa|hylkää|ilmianna',
  'tühista|loobu|atcelt|atsaukt|noraid|atšauk|atsisak|atmes|hætta við|afturkalla',
  // Turkish
  'iptal|geri al|abonelikten|reddet|şikayet',
  // Russian, Ukrainian, Belarusian
  'отмен|отозв|отпис|пожал|отклон|отказ|сообщите о|скасу|відклик|відклич|відпис|поскарж|відхил|відмов|адмян|адпіс|это (?:был[аи]? )?не (?:я|вы)\\b|це (?:був |була |були )?не (?:я|ви)',
  // Greek, Arabic, Persian, Hebrew
  'ακύρω|ακυρώ|ανάκλησ|ανακαλ|ανακλή|απόρριψ|απορρίψ|απεγγραφ|αναφέρετε',
  'إلغاء|الغاء|إبلاغ|الإبلاغ|رفض|تراجع|لغو|گزارش|لغوِ|לבטל|ביטול|בטל|דיווח|דווח|לדווח|הסרה|דחה',
  // Hindi, Bengali, Thai, Vietnamese, Indonesian, Malay, Filipino, Swahili
  'रद्द|रिपोर्ट करें|सदस्यता समाप्त|বাতিল|ยกเลิก|รายงาน|ปฏิเสธ|hủy|huỷ|thu hồi|báo cáo|từ chối|batal|urungkan|berhenti berlangganan|laporkan|tolak|kanselahin|ghairi',
  // Japanese, Chinese, Korean
  'キャンセル|取り消|取消|解除|報告|配信停止|拒否|通報|撤销|撤銷|撤回|退订|退訂|举报|舉報|拒绝|拒絕|作废|취소|철회|해지|신고|거부|차단',
]

const pattern = new RegExp(undo.join('|'), 'u')

/** The last sentence of a label, which is about its link. */
const lastSentence = (label: string): string =>
  label
    .trimEnd()
    .split(/(?:[.!?](?=\s)|[。！？])/)
    .findLast((part) => part.trim() !== '') ?? ''

/** True for the label of a link that undoes something, in lower case. */
export const isUndoing = (label: string): boolean => pattern.test(lastSentence(label))
