// Phrases by which mail programs mark quotations in a reply, by language.

/** Verbs of the line above a quote ("On …, Ann wrote:"), in lower case. */
export const WROTE_WORDS = [
  'wrote', // English
  'writes',
  'schrieb', // German
  'geschrieben',
  'a écrit', // French
  'écrivait',
  'écrivit',
  'escribió', // Spanish
  'escreveu', // Portuguese
  'ha scritto', // Italian
  'va escriure', // Catalan
  'escriure',
  'escribiu', // Galician
  'idatzi', // Basque
  'schreef', // Dutch
  'geschreven',
  'schreven',
  'geskryf', // Afrikaans
  'skryf',
  'skrev', // Danish, Norwegian, Swedish
  'kirjoitti', // Finnish
  'skrifaði', // Icelandic
  'napisał', // Polish
  'napisana przez',
  'pisze',
  'napsal', // Czech
  'napísal', // Slovak
  'napisao', // Croatian, Serbian
  'napisala',
  'je napisal', // Slovenian
  'написао',
  'írta', // Hungarian
  'a scris', // Romanian
  'написал', // Russian
  'пишет',
  'написав', // Ukrainian
  'пише',
  'писал',
  'напиша', // Macedonian
  'жазды', // Kazakh
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
  'نوشت', // Persian
  'כתב', // Hebrew
  'लिखा', // Hindi
  'লিখেছেন', // Bengali
  'எழுதி', // Tamil
  'shkroi', // Albanian
  'sumulat', // Filipino
  'เขียน', // Thai
  '写道', // Chinese
  '寫道',
  '書きました', // Japanese
  '書いた',
  '書き込みました',
  'のメール',
  '님이 작성', // Korean
  '작성',
  '썼습니다',
  '보낸 메시지',
  // Armenian, Georgian, Azerbaijani, Uzbek, Mongolian, Belarusian, and languages of South Asia, Southeast Asia and Africa
  ...'գրել է|წერდა|დაწერა|yazıb|yozdi|бичсэн|напісаў|لکھا|लिहिले|लेख्नुभयो|લખ્યું|ਲਿਖਿਆ|రాశారు|ಬರೆದ|എഴുതി|ලිව්වා|បានសរសេរ|ຂຽນ|ရေးခဲ့|ጻፈ|aliandika'.split(
    '|',
  ),
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
  'at ',
  'om ',
  'die ',
  'kl ',
  'il giorno ',
  'wiadomość ',
  'op ',
  'sg ',
  'เมื่อ ',
  'در تاریخ ',
  'בתאריך ',
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
  'oprindelig besked',
  'den oprindelige besked',
  'original',
  'reply message',
  'original e-mail',
  'original email',
  'original mail',
  'antwort nachricht',
  'ursprüngliche mail',
  'ursprüngliche e-mail',
  'mail original',
  'courriel original',
  'correo original',
  'messaggio originario',
  'origineel bericht',
  'opprinnelig e-post',
  'opprinnelig epost',
  'originalbrev',
  'alkuperäinen sähköposti',
  'wiadomość pierwotna',
  'originalna poruka',
  'izvorna poruka',
  'izvorno sporočilo',
  'missatge original',
  'mesajul original',
  'оригинално съобщение',
  'оригинал',
  'первоначальное сообщение',
  'исходное письмо',
  'オリジナルメッセージ',
  '元のメール',
  '원본메일',
  'ข้อความต้นฉบับ',
  'asli pesan',
  'mesej asal',
  'پیام اصلی',
  'মূল বার্তা',
  'मूल संदेश',
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
  'forwarded by',
  'forwarded mail',
  'forwarded email',
  'forwarded from',
  'start of forwarded message',
  'weitergeleitete e-mail',
  'weitergeleitet von',
  'e-mail transféré',
  'correo reenviado',
  'missatge reenviat',
  'mensagem reenviada',
  'e-mail inoltrata',
  'doorgezonden bericht',
  'videresendt besked',
  'start på videresendt besked',
  'videresendt e-mail',
  'videresendt e-post',
  'start på videresendt melding',
  'början på vidarebefordrat brev',
  'vidarebefordrat e-postmeddelande',
  'välitetty viesti alkaa',
  'edelleenlähetetty viesti',
  'początek przekazanej wiadomości',
  'treść przekazanej wiadomości',
  'přeposlaný e-mail',
  'začátek přeposlané zprávy',
  'preposlaná správa',
  'továbbított üzenet',
  'továbbított levél',
  'mesaj redirecționat',
  'mesaj transmis',
  'proslijeđena poruka',
  'prosleđena poruka',
  'posredovano sporočilo',
  'перенаправленное сообщение',
  'пересланное сообщение',
  'переслане повідомлення',
  'препратено съобщение',
  'προωθημένο μήνυμα',
  'iletilen mesaj',
  'iletilmiş mesaj',
  'yönlendirilen ileti',
  'הודעה שהועברה',
  'الرسالة المعاد توجيهها',
  'رسالة معاد توجيهها',
  'thư chuyển tiếp',
  'thư đã chuyển tiếp',
  'pesan terusan',
  'pesan yang diteruskan',
  'ข้อความที่ส่งต่อ',
  '以下是转发的邮件',
  '下面是被转发的邮件',
  '以下為轉寄的郵件',
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
