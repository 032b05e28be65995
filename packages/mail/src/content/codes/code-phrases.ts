// Phrases beside codes and beside other numbers, by language. In lower case, with dashes as spaces.

import { CodeUnits } from '../../text/code-units.ts'

const each = (starts: string, ends: string): string[] =>
  starts.split('|').flatMap((start) => ends.split('|').map((end) => (end.startsWith('+') ? start + end.slice(1) : `${start} ${end}`)))
const list = (text: string): string[] => text.trim().split(/\s*\|\s*/)

/** Phrases that mark an adjacent number as a one-time code. */
const strong = [
  ...each(
    'verification|security|confirmation|authentication|authenticator|authorization|authorisation|access|login|log in|logon|sign in|signin|sign up|signup|activation|one time|onetime|single use|temporary|temp|two factor|two step|2fa|mfa|2 step|validation|registration|recovery|reset|password reset|device|pairing|link|unlock|auth|approval|transaction|magic|passwordless|identity|email|e mail|phone|account|verify',
    'code|codes|pin|pin code|passcode|pass code|token',
  ),
  ...list(
    'one time password|one time pass|one time pin|single use password|temporary password|verification number|verification password|one time key|otp|otp code|passcode|otc|code to verify|code to sign in|code to log in|code to confirm|code below to|authentication number|verification|2fa',
  ),
  // German
  ...each(
    'bestätigungs|verifizierungs|verifikations|sicherheits|anmelde|login|zugangs|aktivierungs|freigabe|einmal|authentifizierungs|authentisierungs|prüf|registrierungs|geräte|zugriffs|rücksetz|freischalt',
    '+code|+codes|+ code|+pin|+passwort|+kennwort|+zahl|+tan',
  ),
  ...list('mtan|smstan|sms tan|push tan|einmalige code|einmaliger code|einmaligen code'),
  // French
  ...each(
    'code|codes',
    "de vérification|de verification|de sécurité|de securite|de confirmation|de validation|de connexion|d'accès|d'authentification|d'activation|à usage unique|a usage unique|temporaire|de réinitialisation|d'identification|d'autorisation",
  ),
  ...list('mot de passe à usage unique|mot de passe temporaire|mot de passe provisoire'),
  // Spanish and Portuguese
  ...each(
    'código|codigo|clave|token|código único|código temporal',
    'de verificación|de verificacion|de seguridad|de confirmación|de confirmacion|de acceso|de validación|de autenticación|de activación|de un solo uso|de uso único|de inicio de sesión|de recuperación|de autorización|temporal|dinámica|de verificação|de verificacao|de segurança|de seguranca|de confirmação|de acesso|de validação|de autenticação|de ativação|de login|de recuperação|de autorização|de inscripción',
  ),
  ...list('contraseña temporal|contraseña de un solo uso|senha temporária|senha de uso único|senha única|token de acesso'),
  // Italian, Dutch, Polish, Czech, Swedish, Danish, Norwegian, Finnish, Turkish, Hungarian, Romanian
  ...each('codice', 'di verifica|di sicurezza|di conferma|di accesso|di attivazione|di autenticazione|temporaneo|monouso|otp|univoco'),
  ...each('verificatie|beveiligings|bevestigings|inlog|toegangs|activerings|controle', '+code|+codes'),
  ...list('eenmalige code|eenmalig wachtwoord'),
  ...each(
    'kod',
    'weryfikacyjny|bezpieczeństwa|potwierdzający|autoryzacyjny|dostępu|aktywacyjny|jednorazowy|sms|logowania|do logowania|potwierdzenia',
  ),
  ...list('hasło jednorazowe|ověřovací kód|bezpečnostní kód|potvrzovací kód|jednorázový kód|jednorázové heslo'),
  ...each('verifierings|bekräftelse|säkerhets|engångs|inloggnings|aktiverings', '+kod|+koden|+koder|+lösenord'),
  ...each('verifikations|bekræftelses|sikkerheds|engangs|login|bekreftelses|sikkerhets|verifiserings|aktiverings', '+kode|+koden|+kode:'),
  ...list('vahvistuskoodi|vahvistuskoodisi|kertakäyttökoodi|turvakoodi'),
  ...each('doğrulama|onay|güvenlik|giriş|aktivasyon|tek kullanımlık', 'kodu|kodun|kodunuz|kodunuzu|kod|şifre|şifreniz|parola|parolanız'),
  ...list('ellenőrző kód|megerősítő kód|biztonsági kód|cod de verificare|cod de securitate|codul de verificare|codul de confirmare'),
  // Russian and Ukrainian
  ...each(
    'код|кода|коду|кодом',
    'подтверждения|проверки|доступа|безопасности|авторизации|активации|входа|для входа|верификации|регистрации|восстановления|підтвердження|перевірки|доступу|безпеки|авторизації|для авторизации|для подтверждения|для регистрации',
  ),
  ...list(
    'одноразовый код|одноразовый пароль|проверочный код|временный пароль|секретный код|смс код|sms код|одноразовий код|одноразовий пароль',
  ),
  // Greek, Arabic, Hebrew, Hindi, Vietnamese, Indonesian
  ...list('κωδικός επαλήθευσης|κωδικός μιας χρήσης|κωδικός ασφαλείας|κωδικός σύνδεσης|κωδικός επιβεβαίωσης'),
  ...list('رمز التحقق|رمز التأكيد|رمز الدخول|رمز الأمان|كود التحقق|كود التفعيل|رمز التفعيل|رمز تسجيل الدخول|كلمة المرور لمرة واحدة'),
  ...list('קוד אימות|קוד האימות|קוד אבטחה|קוד כניסה|סיסמה חד פעמית|सत्यापन कोड|ओटीपी|सुरक्षा कोड'),
  ...list(
    'mã xác minh|mã xác nhận|mã xác thực|mã otp|mã bảo mật|mã đăng nhập|kode verifikasi|kode otp|kode keamanan|kode konfirmasi|kode masuk',
  ),
]

const weak = list(
  'code|codes|pin|tan|kód|kódot|kod|kodu|kodunuz|kode|koden|koodi|código|codigo|clave|token|senha|codice|cod|codul|passord|код|кода|коду|кодом|пароль|κωδικός|رمز|الرمز|كود|קוד|הקוד|कोड|mã|şifre|şifreniz|parola',
)

const other = [
  ...each(
    'promo|promotion|promotional|discount|coupon|voucher|gift|gift card|referral|referrer|invite|invitation|offer|reward|zip|postal|post|area|country|dial|dialing|dialling|error|status|response|exit|return|source|qr|bar|dress|building|tax|swift|sort|bank|branch|airport|product|item|style|color|colour|stock|reference|booking|reservation|tracking|customer|class|course|hs|morse|penal|civil|vat|pickup|pick up|collection|locker|delivery|door|gate|batch|lot|part|job|asset|supplier|vendor|menu|stop|station|zone|wifi|wi fi|trip|film|badge|order|invoice|conversion|http|currency|language|department|project|event|group|creator|partner|affiliate|license|licence|campaign|bonus|friend|savings|shopping|loyalty|fault|reason|merchant|training|entry|garage|lockbox|key|parking',
    'code|codes|pin',
  ),
  ...list(
    'order|orders|order number|invoice|receipt|tracking|tracking number|shipment|parcel|ticket|case|claim|reference|reference number|ref|confirmation number|account number|account no|customer number|customer id|member id|membership number|policy|booking|reservation|itinerary|flight|transaction id|request id|serial|serial number|model|part number|phone|telephone|tel|fax|call|mobile number|call us|zip|po box|p.o. box|suite|street|avenue|isbn|version|build|ending in|ending|ends in|last four|last 4|total|amount|balance|year|copyright|license key|licence key|product key|extension|ext|room|apartment|apt|issue|meeting id|webinar id|conference id|participant|employee id|student id|patient|postcode|barcode|quote|purchase order|estimate|batch|lot|sku|item|qty|quantity|points|followers|views|code of|code review|source code|code base|code freeze|dress code|pin number for the door|valid until|expires|expires at|expires on|as of|since|code editor|pull request|commit|revision|seq|queue|position|unit|floor|gate|seat|row|terminal|bank account|iban|bic|meter|reading|odometer|weight|height|population|price|more than|up to|nearly|approximately',
  ),
  ...list(
    'gutscheincode|rabattcode|aktionscode|gutschein|bestellnummer|bestellung|rechnungsnummer|rechnung|kundennummer|kunden nr|sendungsnummer|sendung|sendungsverfolgung|auftragsnummer|auftrag|vorgangsnummer|vorgang|ticketnummer|postleitzahl|plz|bankleitzahl|blz|vertragsnummer|vertrag|referenznummer|referenz|fehlercode|buchungscode|buchungsnummer|buchung|artikelnummer|artikel|telefon|mitgliedsnummer|abholcode|paket|betrag|seit|bis|konto|endet auf|hrb|ust id|steuernummer|zählerstand|quellcode|jahr|reservierung|qr code',
  ),
  ...list(
    "code promo|code promotionnel|code postal|code de réduction|code avantage|code cadeau|code parrain|code de parrainage|code d'erreur|code client|code de retrait|code barres|commande|facture|numéro de suivi|suivi|colis|référence|réservation|dossier|téléphone|tél|montant|solde|depuis|jusqu'au|se terminant par|siret|siren|rcs|n° client|année|code de la route|code source",
  ),
  ...list(
    'código postal|código promocional|código de descuento|código de desconto|código de error|código de erro|código de reserva|código de barras|código de referido|código de cliente|código de rastreo|código de rastreio|código de rastreamento|cupón|cupom|pedido|factura|fatura|nota fiscal|número de seguimiento|seguimiento|reserva|referencia|referência|expediente|cep|encomenda|protocolo|envío|envio|importe|monto|valor|saldo|teléfono|telefone|tel|desde|hasta|até|terminada en|final|cpf|cnpj|código de retiro|año|ano',
  ),
  ...list(
    'codice postale|codice sconto|codice promozionale|codice fiscale|codice prenotazione|codice cliente|codice errore|ordine|fattura|spedizione|importo|kortingscode|postcode|bestelling|bestelnummer|factuur|track & trace|kod pocztowy|kod rabatowy|kod promocyjny|numer zamówienia|zamówienie|zamówienia|faktura|faktury|przesyłka|przesyłki|psč|objednávka|objednávky|rabattkod|postnummer|ordernummer|rabatkode|rabattkode|ordre|indirim kodu|posta kodu|promosyon kodu|sipariş|sipariş no|fatura no|kargo|takip no|kode pos|kode promo|kode voucher|nomor pesanan|pesanan|mã giảm giá|mã đơn hàng|đơn hàng|mã vận đơn',
  ),
  ...list(
    'промокод|промокода|код скидки|код ошибки|заказ|заказа|заказу|заказ №|номер заказа|почтовый индекс|индекс|трек номер|отправление|отправления|счет|счёт|счета|накладная|накладной|договор|договора|бронирование|бронирования|код получения|телефон|тел|сумма|баланс|замовлення|посилка|год|года|инн|огрн|карта|карты',
  ),
  ...list(
    'رقم الطلب|الطلب|فاتورة|رمز بريدي|الرمز البريدي|كود الخصم|رمز الخصم|קוד קופון|הזמנה|מספר הזמנה|ऑर्डर|κωδικός παραγγελίας|παραγγελία|κωδικός έκπτωσης',
  ),
]

/** Instructions. The next token is a code only when the message names a purpose. */
const enter = list(
  'use|enter|type|input|key in|gib|geben sie|verwende|verwenden sie|nutze|nutzen sie|saisissez|utilisez|entrez|tapez|usa|use o|utiliza|introduce|ingresa|ingrese|introduzca|digite|insira|informe|usa il|inserisci|gebruik|voer|wpisz|podaj|użyj|zadejte|ange|använd|indtast|brug|girin|введите|используйте|используй|укажите|введіть|استخدم|أدخل|gunakan|masukkan|nhập',
)

// Languages without spaces between words. Particles and compounds may be adjacent.
const strongJoined = list(
  '認証コード|確認コード|検証コード|セキュリティコード|セキュリティ コード|ワンタイムパスワード|ワンタイムコード|認証番号|確認番号|ログインコード|アクセスコード|パスコード|暗証番号|認証キー|承認コード|登録コード|验证码|驗證碼|校验码|校驗碼|动态码|动态密码|動態密碼|安全码|安全碼|安全代碼|安全代码|确认码|確認碼|登录码|登入碼|登錄碼|一次性密码|一次性密碼|一次性代码|验证代码|驗證代碼|认证码|認證碼|인증번호|인증 번호|인증코드|인증 코드|확인 코드|확인코드|확인 번호|보안 코드|보안코드|일회용 비밀번호|로그인 코드|일회용 코드|รหัสยืนยัน|รหัส otp|รหัสผ่านแบบใช้ครั้งเดียว',
)
const weakJoined = list('コード|代码|代碼|코드|รหัส')
const otherJoined = list(
  'クーポンコード|割引コード|プロモーションコード|キャンペーンコード|紹介コード|招待コード|郵便番号|注文番号|ご注文|追跡番号|伝票番号|お問い合わせ番号|電話番号|会員番号|予約番号|請求書|請求番号|エラーコード|商品コード|受付番号|口座番号|優惠码|优惠码|優惠碼|折扣码|折扣碼|邀请码|邀請碼|订单号|訂單編號|訂單|订单|运单号|快递单号|取件码|取货码|邮编|郵遞區號|金额|金額|余额|餘額|尾号|尾號|客服电话|客服電話|电话|電話|주문번호|주문 번호|송장번호|운송장|우편번호|쿠폰|할인코드|할인 코드|초대 코드|예약번호|고객번호|หมายเลขคำสั่งซื้อ|คำสั่งซื้อ|โค้ดส่วนลด',
)
const enterJoined = list('请输入|請輸入|输入|輸入|入力')

const kinds = ['other', 'strong', 'weak', 'enter'] as const

/** A phrase in a text. A number near it is a code (`strong`, `weak`), another number (`other`), or text to type (`enter`). */
export type Hit = { kind: (typeof kinds)[number]; start: number; end: number; phrase: string }

/** All phrases. `isJoined` phrases may be adjacent to letters and digits. Of several phrases at one place, the first list wins, and in it the longest. */
export const phraseLists: { phrases: string[]; kind: Hit['kind']; isJoined: boolean }[] = [
  { phrases: other, kind: 'other', isJoined: false },
  { phrases: strong, kind: 'strong', isJoined: false },
  { phrases: weak, kind: 'weak', isJoined: false },
  { phrases: enter, kind: 'enter', isJoined: false },
  { phrases: otherJoined, kind: 'other', isJoined: true },
  { phrases: strongJoined, kind: 'strong', isJoined: true },
  { phrases: weakJoined, kind: 'weak', isJoined: true },
  { phrases: enterJoined, kind: 'enter', isJoined: true },
]

/** A trie of phrases. `lists` has a bit per list with a phrase that ends here. */
type Branch = { lists: number; next: Map<number, Branch> }

const joinedLists = 0b11110000

/**
 * The trie. `pairs` has the branches after the first two ASCII letters or digits. `thirds` has 1 for each third character that continues the pair, and
 * for all characters after a complete phrase. Indexed by the numbers in `wordNumbers`.
 */
type Tree = { root: Branch; pairs: (Branch | undefined)[]; thirds: Uint8Array }

/** ASCII letters and digits from 1 on, 0 for everything else. */
const wordNumbers = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code)
  return /[a-z0-9]/i.test(letter) ? Number.parseInt(letter, 36) + 1 : 0
})
const wordNumberMax = 36
const pairOf = (first: number, second: number): number => first * (wordNumberMax + 1) + second
const thirdOf = (pair: number, third: number): number => pair * (wordNumberMax + 1) + third
const wordNumberOf = (unit: number): number => (unit < 128 ? (wordNumbers[unit] as number) : 0)

/** Built for the first message with a number. */
let grown: Tree | null = null

function grow(): Tree {
  const root: Branch = { lists: 0, next: new Map() }
  for (const [index, { phrases }] of phraseLists.entries()) {
    for (const phrase of phrases) {
      let branch = root
      for (let at = 0; at < phrase.length; at++) {
        const unit = phrase.charCodeAt(at)
        const next = branch.next.get(unit) ?? { lists: 0, next: new Map() }
        branch.next.set(unit, next)
        branch = next
      }
      branch.lists |= 1 << index
    }
  }
  const pairs: (Branch | undefined)[] = Array.from({ length: pairOf(wordNumberMax + 1, 0) })
  const thirds = new Uint8Array(thirdOf(pairs.length, 0))
  for (const [first, { next }] of root.next) {
    for (const [second, branch] of next) {
      if (!wordNumberOf(first) || !wordNumberOf(second)) continue
      const pair = pairOf(wordNumberOf(first), wordNumberOf(second))
      pairs[pair] = branch
      // A phrase may end here.
      if (branch.lists !== 0) thirds.fill(1, thirdOf(pair, 0), thirdOf(pair + 1, 0))
      for (const third of branch.next.keys()) thirds[thirdOf(pair, wordNumberOf(third))] = 1
    }
  }
  return { root, pairs, thirds }
}

const wordCharacter = /^[\p{L}\p{N}]/u

/** True when a letter or digit begins at this index. */
function isWordAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  // NaN at the text's end is neither.
  if (unit < 128) return wordNumbers[unit] !== 0
  return unit >= 128 && wordCharacter.test(text.slice(index, index + 2))
}

/** True when a letter or digit ends before this index. */
function isWordBefore(text: string, index: number): boolean {
  const isPair = index > 1 && isLowSurrogate(text.charCodeAt(index - 1)) && isHighSurrogate(text.charCodeAt(index - 2))
  return index > 0 && isWordAt(text, isPair ? index - 2 : index - 1)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const texts = new CodeUnits()

/** Finds phrases in order, in a text in lower case with spaces for dashes. One pass, with backtracking of at most the longest phrase. */
export function findHits(text: string): Hit[] {
  grown ??= grow()
  const { root, pairs, thirds } = grown
  const hits: Hit[] = []
  const length = text.length
  const units = texts.of(text)
  let index = 0
  while (index < length) {
    const unit = units[index] as number
    const number = wordNumberOf(unit)
    let hit: Hit | null = null
    if (number > 0) {
      const second = wordNumberOf(units[index + 1] as number)
      if (second === 0) {
        const branch = root.next.get(unit)
        if (branch && !isWordBefore(text, index)) hit = follow(text, index, index + 1, branch, true)
      } else {
        const pair = pairOf(number, second)
        if (thirds[thirdOf(pair, wordNumberOf(units[index + 2] as number))] === 1 && !isWordBefore(text, index))
          hit = follow(text, index, index + 2, pairs[pair] as Branch, true)
      }
      // Skips the rest of the word, because no phrase begins within a word.
      if (hit === null) while (wordNumberOf(units[++index] as number) > 0);
    } else {
      if (unit >= 128) {
        const branch = root.next.get(unit)
        // The word boundary is checked after a match, because matches are rare.
        if (branch) hit = follow(text, index, index + 1, branch, true)
        if (hit && isWordBefore(text, index)) hit = follow(text, index, index + 1, branch as Branch, false)
      }
      if (hit === null) index++
    }
    if (hit) {
      hits.push(hit)
      index = hit.end
    }
  }
  return hits
}

/** The phrase that begins at `start`, or null. `branch` is the branch of the characters before `from`. */
function follow(text: string, start: number, from: number, branch: Branch, isFree: boolean): Hit | null {
  const lists = isFree ? -1 : joinedLists
  let best = phraseLists.length
  let end = 0
  let at: Branch | undefined = branch
  for (let index = from; at !== undefined; at = at.next.get(text.charCodeAt(index++))) {
    const ending = at.lists & lists & (isWordAt(text, index) ? joinedLists : -1)
    if (ending === 0) continue
    // The number of the lowest bit. Later ends are longer phrases.
    const list = 31 - Math.clz32(ending & -ending)
    if (list > best) continue
    best = list
    end = index
  }
  const found = phraseLists[best]
  return found ? { kind: found.kind, start, end, phrase: text.slice(start, end) } : null
}
