// Phrases by which mail programs mark quotations in a reply, by language.

/** Verbs of the line above a quote ("On …, Ann wrote:"), in lower case. */
export const WROTE_WORDS = [
  'wrote', // English
  'writes',
  'schrieb', // German
  'a écrit', // French
  'écrivait',
  'écrivit',
  'escribió', // Spanish
  'escreveu', // Portuguese
  'ha scritto', // Italian
  'va escriure', // Catalan
  'schreef', // Dutch
  'skrev', // Danish, Norwegian, Swedish
  'kirjoitti', // Finnish
  'napisał', // Polish
  'napsal', // Czech
  'napísal', // Slovak
  'je napisao', // Croatian
  'je napisal', // Slovenian
  'írta', // Hungarian
  'a scris', // Romanian
  'написал', // Russian
  'пишет',
  'написав', // Ukrainian
  'пише',
  'написа', // Bulgarian
  'έγραψε', // Greek
  'yazdı', // Turkish
  'şunu yazdı',
  'viết', // Vietnamese
  'menulis', // Indonesian
  'rašė', // Lithuanian
  'rakstīja', // Latvian
  'kirjutas', // Estonian
  'كتب', // Arabic
  'כתב', // Hebrew
  'เขียน', // Thai
  '写道', // Chinese
  '寫道',
  '書きました', // Japanese
  'のメール',
  '님이 작성', // Korean
  '작성',
  '썼습니다',
]

/** First words of an attribution that starts with a date, in lower case and with their blank. */
export const DATE_OPENERS = [
  'on ',
  'am ',
  'le ',
  'el ',
  'em ',
  'il ',
  'op ',
  'den ',
  'dnia ',
  'w dniu ',
  'dne ',
  'dňa ',
  'på ',
  'ma ',
  'ti ',
  'la ',
  'în data ',
  'pe ',
  'vào ',
  'pada ',
  'στις ',
  'в ',
  'на ',
  'el dia ',
  'a ',
  'na ',
  'tarihinde ',
  'в письме ',
  'ב',
  'في ',
  '在 ',
]

/** Texts between the dashes of "-----Original Message-----", in lower case. */
export const ORIGINAL_MESSAGE = [
  'original message',
  'original appointment',
  'ursprüngliche nachricht',
  'originalnachricht',
  "message d'origine",
  'message d’origine',
  'message original',
  'mensaje original',
  'mensagem original',
  'messaggio originale',
  'oorspronkelijk bericht',
  'oorspronkelijke bericht',
  'oprindelig meddelelse',
  'opprinnelig melding',
  'ursprungligt meddelande',
  'originalmeddelande',
  'alkuperäinen viesti',
  'oryginalna wiadomość',
  'wiadomość oryginalna',
  'původní zpráva',
  'pôvodná správa',
  'eredeti üzenet',
  'mesaj original',
  'исходное сообщение',
  'оригінальне повідомлення',
  'αρχικό μήνυμα',
  'özgün ileti',
  'orijinal mesaj',
  '元のメッセージ',
  '原始邮件',
  '邮件原件',
  '原始郵件',
  '원본 메시지',
  '원본 메일',
  'thư gốc',
  'pesan asli',
  'الرسالة الأصلية',
  'הודעה מקורית',
]

/** Marks of a forwarded message, between dashes or on a line of their own. In lower case, without a colon. */
export const FORWARDED_MESSAGE = [
  'forwarded message',
  'begin forwarded message',
  'weitergeleitete nachricht',
  'anfang der weitergeleiteten nachricht',
  'anfang der weitergeleiteten e-mail',
  'message transféré',
  'message réexpédié',
  'début du message transféré',
  'début du message réexpédié',
  'début du message re-expédié',
  'mensaje reenviado',
  'inicio del mensaje reenviado',
  'mensagem encaminhada',
  'mensagem reencaminhada',
  'início da mensagem encaminhada',
  'messaggio inoltrato',
  'inizio messaggio inoltrato',
  'doorgestuurd bericht',
  'begin doorgestuurd bericht',
  'videresendt meddelelse',
  'videresendt melding',
  'vidarebefordrat meddelande',
  'vidarebefordrat brev',
  'välitetty viesti',
  'wiadomość przekazana',
  'přeposlaná zpráva',
  'пересылаемое сообщение',
  'начало переадресованного сообщения',
  '転送メッセージ',
  '転送されたメッセージ',
  '转发的邮件',
  '转发邮件',
  '轉寄郵件',
  '전달된 메시지',
]

/** Openings of the line that a phone or webmail program adds below a text, in lower case. */
export const DEVICE_SIGNATURES = [
  'sent from my ',
  'sent from mail for windows',
  'sent from outlook',
  'sent from yahoo mail',
  'sent from proton mail',
  'sent from protonmail',
  'sent from gmail mobile',
  'sent via ',
  'sent with proton mail',
  'sent with protonmail',
  'sent using ',
  'get outlook for ',
  'get bluemail for ',
  'von meinem ',
  'von meiner ',
  'von outlook für ',
  'gesendet von mail für windows',
  'gesendet von meinem ',
  'gesendet mit der ',
  'holen sie sich outlook für ',
  'outlook für ',
  'diese nachricht wurde von meinem ',
  'envoyé de mon ',
  'envoyé depuis mon ',
  'envoyé à partir de ',
  'envoyé de l’app',
  'télécharger outlook pour ',
  'obtenez outlook pour ',
  'enviado desde mi ',
  'enviado desde outlook',
  'enviado desde correo para windows',
  'obtener outlook para ',
  'enviado do meu ',
  'enviado via ',
  'obter o outlook para ',
  'inviato da iphone',
  'inviato da ipad',
  'inviato dal mio ',
  'scarica outlook per ',
  'verstuurd vanaf mijn ',
  'verzonden vanaf mijn ',
  'outlook voor ',
  'skickat från min ',
  'skickat från outlook',
  'sendt fra min ',
  'lähetetty iphonesta',
  'wysłane z ',
  'wysłano z ',
  'odesláno z ',
  'odoslané z ',
  'отправлено с ',
  'отправлено из ',
  'надіслано з ',
  'iphone’umdan gönderildi',
  "iphone'umdan gönderildi",
  'iphoneから送信',
  'ipadから送信',
  '发自我的',
  '發自我的',
  '從我的 ',
  '나의 iphone에서 보냄',
  'đã gửi từ ',
]
