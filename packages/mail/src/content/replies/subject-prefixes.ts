// Recognizes the subject of a reply by the prefix of its mail program.

/** Prefixes by language, in lower case. */
const PREFIXES =
  're|rép|aw|antw|antwort|sv|svar|vs|odp|rif|r|res|resp|ynt|cevap|atb|bls|balas|vá|válasz|απ|απαντ|σχετ|отв|ответ|відп|відповідь|' +
  'תשובה|השב|رد|پاسخ|回复|回覆|答复|答覆|返信|답장|회신|ตอบ|ตอบกลับ|trả lời'

// Perhaps behind the name of a list or the number of a ticket in brackets, and with a count such as "Re[2]:" or "RE (2):".
const REPLY = new RegExp(
  `^\\s*(?:\\[[^\\]\\n]{0,80}\\]\\s*){0,3}(?:${PREFIXES})\\s?(?:\\[\\d{1,3}\\]|\\(\\d{1,3}\\)|\\^\\d{1,3})?\\s?[:：]`,
  'iu',
)

/** True for a subject such as "Re: Offer" or "[Ticket 5] AW: Angebot". */
export const isReplySubject = (subject: string): boolean => REPLY.test(subject)
