// Labels of the header block that mail programs put above an unmarked quotation, by language.

/** The field that a label names. */
export type HeaderKind = 'from' | 'date' | 'to' | 'cc' | 'subject' | 'other'

const list = (text: string): string[] => text.trim().split(/\s*\|\s*/)

// In lower case. Several languages share a label.
const LABELS: Record<HeaderKind, string[]> = {
  from: list(
    'from|von|de|de la|da|van|från|fra|lähettäjä|od|nadawca|odesílatel|odosielateľ|от|від|від кого|от кого|από|kimden|gönderen|feladó|' +
      'saatja | no | nuo | sender | absender | expéditeur | remitente | mittente | remetente | afzender | expeditor | 差出人 | 送信者 | 发件人 | 寄件者 | 寄件人 | 發件人 | 보낸 사람 |' +
      '보낸사람 | 发送人 | từ | dari | pengirim | من | מאת | ผู้ส่ง | จาก | از | প্রেরক | प्रेषक | frá | şuradan | kimdən',
  ),
  date: list(
    'sent|date|sent at|sent on|date sent|gesendet|gesendet am|datum|envoyé|envoyé le|enviado|enviado el|fecha|enviada em|enviado em|data|enviat|inviato|' +
      'inviato il | verzonden | verzonden op | skickat | skickat den | sendt | dato | lähetetty | päivämäärä | päiväys | wysłano | wysłane | odesláno | odoslané | poslano | poslato | elküldve | küldve | dátum |' +
      'отправлено | дата | надіслано | изпратено | στάλθηκε | ημερομηνία | gönderildi | gönderilen | gönderme tarihi | gönderilme tarihi | tarih | trimis | saadetud | kuupäev |' +
      'nosūtīts | datums | išsiųsta | 送信日時 | 日時 | 日付 | 发送时间 | 发送日期 | 日期 | 时间 | 時間 | 寄件日期 | 傳送時間 | 發送日期 | 보낸 날짜 | 보낸날짜 | 날짜 | đã gửi | ngày | dikirim | tanggal | tarikh |' +
      'تاريخ الإرسال | التاريخ | נשלח | תאריך | ส่งแล้ว | ส่งเมื่อ | วันที่ | تاریخ | तारीख | তারিখ',
  ),
  to: list(
    'to|an|adresat|à|a|para|per a|aan|till|til|vastaanottaja|do|komu|dla|címzett|кому|до|за|προς|kime|alıcı|către|cui|saaja|kam|kam|' +
      '宛先 | 收件人 | 收件者 | 받는 사람 | 받는사람 | đến | tới | kepada | ke | إلى | אל | ถึง | به | प्रति | প্রাপক | za | prima | rivolto a | destinatario | destinataire | empfänger',
  ),
  cc: list(
    'cc|bcc|cci|copie à|copie|copia|kopie|kopie an|kopia|kopi|kopio|dw|másolatot kap|másolat|копия|копія|копие|κοιν|κοινοποίηση|bilgi|抄送|副本|참조|عفا|نسخة|עותק|สำเนา|tembusan',
  ),
  subject: list(
    'subject|re|betreff|betr|objet|asunto|assunto|assumpte|oggetto|onderwerp|betreft|ämne|emne|aihe|temat|předmět|predmet|tárgy|тема|предмет|относно|θέμα|konu|' +
      'subiect | teema | temats | tēma | tema | 件名 | 主题 | 主題 | 主旨 | 标题 | 제목 | chủ đề | tiêu đề | perihal | subjek | subyek | الموضوع | נושא | เรื่อง | หัวเรื่อง | موضوع | विषय | বিষয়',
  ),
  other: list(
    'reply-to|antwort an|organization|importance|attachments|anlagen|pièces jointes|priority|wichtigkeit|cc/bcc|répondre à|responder a',
  ),
}

const KINDS = new Map<string, HeaderKind>()
for (const [kind, labels] of Object.entries(LABELS)) for (const label of labels) KINDS.set(label, kind as HeaderKind)

const LABEL_CHARACTERS_MAX = 40

/** The field that a line such as "*From:* Ann" names, or null. */
export function labelKind(line: string): HeaderKind | null {
  const end = line.slice(0, LABEL_CHARACTERS_MAX).search(/[:：]/)
  if (end < 0) return null
  const label = line
    .slice(0, end)
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/^[\s*_|]+|[\s*_|]+$/g, '')
  return KINDS.get(label.replace(/[\u00a0\u3000\s]+/g, ' ').toLowerCase()) ?? null
}

// Labels of one letter also end words and sentences.
const INLINE_LENGTH_MIN = 2
const INLINE = new RegExp(
  `(?<![\\p{L}\\p{M}])(${[...KINDS.keys()]
    .filter((label) => label.length >= INLINE_LENGTH_MIN)
    .toSorted((a, b) => b.length - a.length)
    .map((label) => label.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('|')})\\s?[:：]`,
  'giu',
)

/** The fields that the labels on one line name. */
export const inlineLabelKinds = (line: string): Set<HeaderKind> =>
  new Set([...line.matchAll(INLINE)].map((match) => KINDS.get(match[1]!.toLowerCase()) as HeaderKind))
