// Finds single-use links to verify an address, sign in or set a password, by their label, path and token.
import type { Code, CodePurpose } from '@callsign/contract/codes'
import { purposeOf } from './purposes.ts'
import { isUndoing } from './undo-words.ts'

type Link = { url: URL; written: string; before: string; behind: string }

const linksMax = 60
const linkCharactersMax = 2048
const nearCharactersMax = 160

/** The confirmation links of a message, the likeliest first. Text from HTML has links as `label <address>`. */
export function findConfirmationLinks(subject: string, text: string): Code[] {
  const links = findLinks(text)
  if (links.length === 0) return []
  const title = subject.toLowerCase()
  let asked: boolean | null = null
  const isShortLived = (): boolean => {
    asked ??= shortLived.test(text.toLowerCase())
    return asked
  }
  const byAddress = new Map<string, { code: Code; score: number }>()
  for (const link of links) {
    const judged = judge(link, title, isShortLived)
    if (judged === null) continue
    const known = byAddress.get(link.written)
    if (known && known.score >= judged.score) continue
    byAddress.set(link.written, {
      score: judged.score,
      code: {
        kind: 'confirmation_link',
        value: link.written,
        purpose: judged.purpose,
        near: clip(link.before) || clip(link.behind),
        domain: link.url.hostname,
      },
    })
  }
  return [...byAddress.values()].toSorted((a, b) => b.score - a.score).map(({ code }) => code)
}

function findLinks(text: string): Link[] {
  const links: Link[] = []
  let end = 0
  if (!text.includes('://')) return links
  for (const match of text.matchAll(/https?:\/\/[^\s<>"「」『』【】（），。、！？]{4,}/gi)) {
    if (links.length >= linksMax) break
    const cut = match[0].slice(0, linkCharactersMax + 1)
    // Brackets show the end, so that a token may end in a punctuation mark.
    const isBracketed = text[match.index - 1] === '<' && text[match.index + match[0].length] === '>'
    const written = isBracketed ? cut : withoutTail(cut)
    const start = match.index
    const between = text.slice(Math.max(end, start - 400), start)
    end = start + written.length
    // Control and format characters are invalid in a URL, and may disguise it.
    if (written.length > linkCharactersMax || /\p{C}/u.test(written) || !URL.canParse(written)) continue
    const url = new URL(written)
    // A host in braces is a variable of a script.
    if (url.username !== '' || url.password !== '' || /[${}]/.test(url.hostname)) continue
    links.push({ url, written, before: labelOf(between), behind: firstLine(text.slice(end, end + 120)) })
  }
  return links
}

/** A link without the punctuation of the sentence, and without a bracket that it does not open. */
function withoutTail(link: string): string {
  let end = link.length
  while (end > 0) {
    const last = link[end - 1] as string
    const isOpenBracket = last === ')' ? link.lastIndexOf('(', end) < 0 : last === ']' ? link.lastIndexOf('[', end) < 0 : false
    if (!isOpenBracket && !/[.,;:!?'"*_}>|]/.test(last)) break
    end--
  }
  return link.slice(0, end)
}

/** The text before a link: the start of its line, or the two lines above when it has a line of its own. */
function labelOf(text: string): string {
  const lines = text.split(/\r?\n/)
  const own = (lines.at(-1) as string).replace(/[<([\s>]+$/, '')
  if (/[\p{L}\p{N}]/u.test(own)) {
    // A short label on a line of its own gets the line above it as context.
    if (own.length > 3 && own.length < 30) return `${lastFilled(lines.slice(0, -1), 1)} ${own}`.trim()
    return own
  }
  return lastFilled(lines.slice(0, -1), 2)
}

function lastFilled(lines: string[], count: number): string {
  return lines
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .slice(-count)
    .join(' ')
}

const firstLine = (text: string): string => text.split('\n', 2).find((line) => /\p{L}/u.test(line)) ?? ''

const wants =
  /(?:verif(?:y|ication|ying)|confirm(?:ation|ing|er|ar|a|e)?|activat(?:e|ion|ing)|validat(?:e|ion)|approve|complete|finish)\b[^.!?\n]{0,40}\b(?:e-?mail|address|account|registration|sign-?up|identity|subscription|profile|device|request|it'?s you|log-?in|sign-?in|new owner)|(?:verify|confirm|activate|validate)(?: it| now| me)?\s*[:>»→]*\s*$|e-?mail (?:verification|confirmation)|account activation|bestätig|aktivier|verifizier|freischalt|vérifi|confirm(?:er|ez|ation)|activ(?:er|ez|ation)|valid(?:er|ez)|verifica|confirma|confirme\b|activa|ativ(?:ar|e)\b|conferma|attiva|verifieer|bevestig|activeer|zweryfik|potwierd|aktywuj|ověř|potvr[dď]|verifiera|bekräft|bekræft|bekreft|doğrula|onayla|etkinleştir|подтверд|активир|верифи|підтверд|активу|認証|確認|有効化|本登録|登録を完了|验证|驗證|确认|確認|激活|啟用|인증|확인|활성화|تأكيد|تحقق|تفعيل|xác minh|xác nhận|kích hoạt|verifikasi|konfirmasi|aktifkan|επιβεβαί|επαλήθευσ|ενεργοποί|אימות|אשר/
const wantsReset =
  /reset[^.!?\n]{0,30}password|password reset|(?:set|choose|create|change|pick)[^.!?\n]{0,20}\bpassword|passwort[^.!?\n]{0,25}(?:zurücksetzen|ändern|festlegen|vergeben|wählen)|kennwort[^.!?\n]{0,25}(?:zurücksetzen|ändern)|neues passwort|réinitialis|nouveau mot de passe|(?:restablec|cambi|crear|recuper)[^.!?\n]{0,25}contraseña|(?:redefin|alter|criar|recuper)[^.!?\n]{0,25}senha|(?:reimposta|cambia)[^.!?\n]{0,20}password|wachtwoord|(?:zresetuj|ustaw|zmień)[^.!?\n]{0,15}hasło|(?:återställ|nulstil|tilbakestill)|(?:şifre|parola)[^.!?\n]{0,20}(?:sıfırla|yenile|değiştir)|(?:сброс|сменить|восстанов|изменить|новый|задать)[^.!?\n]{0,25}парол|скинути пароль|パスワード[^。\n]{0,15}(?:再設定|リセット|変更|設定)|(?:重置|重设|重設|修改|找回)[^。\n]{0,6}(?:密码|密碼)|비밀번호[^.\n]{0,10}(?:재설정|변경)|كلمة المرور/
const wantsSignIn =
  /\b(?:sign|log)[ -]?in\b|magic link|\blog me in\b|access (?:your|my) account|continue (?:to|signing)|anmeld|einlogg|einloggen|connecter|connexion|connectez|inici(?:ar|a) sesi[óo]n|acceder|acced[ae]|entrar\b|acessar|fazer login|accedi|inloggen|zaloguj|logga in|log ind|logg inn|giriş yap|войти|вход|войдите|увійти|ログイン|サインイン|登录|登入|登錄|로그인|تسجيل الدخول|đăng nhập|masuk|σύνδεση/
/** Phrases for a single-use link, as opposed to a permanent sign-in page. */
const singleUse =
  /magic link|sign[ -]?in link|log[ -]?in link|one-time link|single[ -]use|(?:link|button)[^.\n]{0,60}(?:expire|valid|works? (?:only )?once|used once)|(?:link|lien|enlace)[^.\n]{0,60}(?:gültig|läuft|ablauf|expire|caduca|vence|válido|valable)|anmeldelink|login-link|lien (?:magique|de connexion)|enlace (?:mágico|de inicio|de acceso)|link (?:mágico|de acesso|de login)|ссылк[аи][^.\n]{0,60}(?:действ|одноразов)|リンク[^。\n]{0,40}(?:有効|期限)|链接[^。\n]{0,30}(?:有效|失效)|連結[^。\n]{0,30}有效|링크[^.\n]{0,30}(?:유효|만료)/
const shortLived =
  /expire|valid (?:for|until)|within the next|only (?:be )?used? once|gültig|läuft[^.\n]{0,40}ab|caduca|vence|válid[oa]|expira|valable|scade|valido|verloopt|geldig|ważny|wygasa|giltig|utløper|geçerli|действ|истека|дійсн|有効|期限|有效|失效|유효|만료|صالح|berlaku|hiệu lực/
const unwanted =
  /unsubscri|opt[ -]?out|manage (?:your )?(?:preferences|notifications|settings|subscription)|email (?:preferences|settings)|preferences|privacy|terms|view (?:this|it|the) |in (?:your|a) browser|help cent|support|learn more|read more|contact|didn'?t (?:request|sign|make|ask|create|do)|did not (?:request|sign|make|ask|create|do)|wasn'?t you|was not you|not you|n't you|secure your|report (?:this|it)|ignore|cancel|download|invoice|receipt|your order|track|booking|reservation|appointment|attendance|rsvp|\bevent\b|delivery|survey|feedback|review|follow us|share|refer|invite a friend|abmelden|abbestell|datenschutz|impressum|agb\b|einstellungen|nicht (?:angefordert|selbst|du|sie)|bestellung|rechnung|sendung|termin|désabonn|désinscri|préférences|confidentialité|pas (?:demandé|à l'origine|vous)|commande|facture|rendez-vous|darse de baja|cancelar|preferencias|privacidad|no (?:has |ha )?(?:solicit|fuiste|fue)|pedido|factura|cita\b|privacidade|não (?:solicit|foi)|descadastr|consulta|disiscri|uitschrijven|wypisz|avregistrera|отпис|не запрашив|не вы\b|это не вы|заказ|配信停止|心当たり|プライバシー|注文|予約|退订|退訂|非本人|不是您|订单|訂單|수신거부|주문|본인이 아/

const pathWants = /^(?:verif|confirm|activat|validat|optin|doubleoptin|emailver|emailconf|registerconf|completesignup|completeregistration)/
const pathReset = /^(?:reset|passwordreset|forgot|recover|newpassword|setpassword|changepassword|createpassword|pwreset|resetpw)/
const pathSignIn =
  /^(?:magic|passwordless|signin|login|logon|auth|oauth|otp|onetime|ott|callback|emaillogin|tokenlogin|loginlink|signinlink)/
const pathNever =
  /^(?:unsub|optout|unregister|preferences|privacy|terms|tos|legal|help|faq|support|contact|policy|policies|imprint|impressum|blog|careers|survey|feedback|rsvp|cancel|decline|reject|deny|report|revoke|notme|dispute)/
const pathOther =
  /^(?:orders?|invoices?|receipts?|bookings?|reservations?|tracking|shipments?|cart|checkout|review|share|refer|events?|calendar|appointments?|delivery|products?|tickets?|trips?|attend|meetings?|payments?|billing|webversion|viewonline|docs|download|blob|blame|jobs?|article|posts?|news)$/

function judge(link: Link, title: string, isShortLived: () => boolean): { score: number; purpose: CodePurpose | null } | null {
  const words = wordsOf(link.url)
  if (words.some((word) => pathNever.test(word)) || /\.(?:png|jpe?g|gif|svg|css|js|ico|woff2?|webp)$/i.test(link.url.pathname)) return null
  // First, because most links have no secret and the check is cheap.
  if (!hasSecret(link.url) || words.some((word) => pathOther.test(word))) return null
  const label = link.before.toLowerCase().replaceAll('’', "'")
  const near = label.slice(-140)
  const wanted = new Map(wantedPatterns.map((pattern) => [pattern, lastMatch(pattern, near)]))
  const lastWanted = Math.max(...wanted.values())
  const goes = (pattern: RegExp) => words.some((word) => pattern.test(word))
  const isPointer = here.test(near)
  // Fast path: most links have no such phrase and need no check for unwanted ones.
  if (lastWanted < 0 && !isPointer && !singleUse.test(near) && !goes(pathAny) && !goes(clearAccess)) return null
  if (lastMatch(unwanted, near) > lastWanted || isUndoing(near)) return null
  const behind = link.behind.toLowerCase()
  const says = (pattern: RegExp) => (wanted.get(pattern) ?? -1) >= 0 || (isPointer && pattern.test(behind))
  const about = (pattern: RegExp) => pattern.test(title)
  const isReset = says(wantsReset) || goes(pathReset)
  if (isReset && (says(wantsReset) || about(wantsReset) || isShortLived()))
    return { score: 8 + Number(goes(pathReset)), purpose: 'password_reset' }
  if (goes(pathWants) && (says(wants) || about(wants) || isShortLived() || words.length <= 4))
    return { score: 7 + Number(says(wants)), purpose: purposeOfLink(near, title, 'verify') }
  const isPlace = says(wants)
  if (isPlace && (about(wants) || isShortLived() || strongLabel.test(near)))
    return { score: 6, purpose: purposeOfLink(near, title, 'verify') }
  const isSignIn = says(wantsSignIn) || singleUse.test(near)
  const isOnce =
    singleUse.test(near) || singleUse.test(title) || singleUse.test(behind) || (isShortLived() && (about(wantsSignIn) || goes(pathSignIn)))
  if (isSignIn && (isOnce || (goes(pathSignIn) && isShortLived()))) return { score: 6 + Number(goes(pathSignIn)), purpose: 'sign_in' }
  // Words of the path that are clear in any language, with a long token.
  if (hasLongToken(link.url) && goes(clearReset)) return { score: 6, purpose: 'password_reset' }
  if (hasLongToken(link.url) && goes(clearWants)) return { score: 6, purpose: purposeOfLink(near, title, 'verify') }
  if (hasLongToken(link.url) && goes(clearAccess) && (isOnce || isShortLived() || about(wantsSignIn)))
    return { score: 5, purpose: 'sign_in' }
  if (goes(pathSignIn) && goes(/^(?:magic|passwordless|onetime|emaillogin|loginlink|signinlink)/)) return { score: 5, purpose: 'sign_in' }
  return null
}

const clearReset = /^(?:resetpassword|passwordreset|passwordrecovery|recoverpassword|recover$|forgotpassword)/
const clearWants = /^(?:confirm(?:ation)?$|confirmationtoken|verifyemail|emailverif|verification$|activation$|confirmemail)/
const clearAccess = /^(?:session|access|accesslink|accesstoken|enter$|magic|login|signin)/

/** True for a link with a token of at least 20 characters in its path or its parameters. */
const hasLongToken = (url: URL): boolean =>
  [...url.pathname.split('/'), ...url.searchParams.values()].some((part) => part.length >= 20 && isSecret(part))

const strongLabel =
  /(?:verify|confirm|activate|validate) (?:my |your |the |this |you )?(?:new )?(?:e-?mail|account|address|subscription|registration|identity|request|sign-?up)|konto (?:aktivieren|bestätigen)|e-?mail(?:-adresse)? (?:bestätigen|verifizieren)|anmeldung bestätigen|(?:confirm|vérifi|activ|valid)\S* (?:mon |votre |ton |l'|mes )?(?:adresse|compte|e-?mail|inscription)|(?:confirm|verific|activ|ativ)\S* (?:mi |tu |su |meu |seu |sua |el |la |o |a |il |il tuo |la tua )?(?:correo|cuenta|e-?mail|conta|dirección|registro|account|indirizzo|cadastro|suscripción|inscrição)|подтвердить|подтвердите|активировать|メールアドレス[^。]{0,10}(?:認証|確認)|(?:验证|確認|确认|激活|驗證)(?:邮箱|郵箱|电子|電子|帐户|账户|账号|帳號|帳戶)|이메일 인증|인증하기/

const purposeOfLink = (near: string, title: string, otherwise: CodePurpose): CodePurpose => {
  const said = purposeOf(near) ?? purposeOf(title)
  return said === null || said === 'payment' ? otherwise : said
}

const wantedPatterns = [wants, wantsReset, wantsSignIn]
const pathAny = new RegExp([pathWants, pathReset, pathSignIn].map(({ source }) => source).join('|'))
/** Labels such as "here" that do not name the purpose. */
const here = /\b(?:here|hier|ici|aquí|aqui|qui|сюда|здесь)\W*$|こちら|点击|點擊|여기/

const everywhere = new Map([...wantedPatterns, unwanted].map((pattern) => [pattern, new RegExp(pattern, 'g')]))

/** The end of the last match of a pattern. -1 without one. */
function lastMatch(pattern: RegExp, text: string): number {
  const search = everywhere.get(pattern) as RegExp
  let last = -1
  search.lastIndex = 0
  for (let match = search.exec(text); match !== null; match = search.exec(text)) last = match.index + match[0].length
  return last
}

/** The words of the path, the parameter names and the first host label of a link, without digits and long tokens. */
function wordsOf(url: URL): string[] {
  const names = [...url.searchParams.keys()].slice(0, 20)
  const fragment = url.hash.slice(1, 200)
  const action = ['mode', 'action', 'type', 'flow', 'op'].flatMap((name) => url.searchParams.get(name) ?? [])
  return [
    ...url.pathname.slice(1, 400).split('/'),
    ...names,
    ...action,
    ...fragment.split(/[/?&=]/).slice(0, 6),
    url.hostname.split('.')[0] as string,
  ]
    .filter((part) => part.length <= 40)
    .flatMap((part) => {
      const words = part
        .replace(/([a-z])([A-Z])/g, '$1-$2')
        .toLowerCase()
        .split(/[^a-z]+/)
        .filter((word) => word.length > 2)
      return words.length > 1 ? [...words, words.join('')] : words
    })
}

/** True for a link with a generated secret: a long token, or digits among letters. */
function hasSecret(url: URL): boolean {
  const parts = [
    ...url.pathname.split('/'),
    ...[...url.searchParams].flatMap(([name, value]) => (name.startsWith('utm_') ? [] : [value])),
    ...url.hash.slice(1).split(/[/?&=]/),
  ]
  const named = ['token', 'code', 'otp', 'key', 'oobCode', 'hash', 'signature', 'sig', 't', 'c'].some((name) =>
    /^[\w.~-]{6,}$/.test(url.searchParams.get(name) ?? ''),
  )
  return named || parts.some(isSecret)
}

const isSecret = (part: string): boolean => {
  if (/\.(?:html?|php|aspx?|jsp|pdf|zip|txt|xml|json|md)$/i.test(part)) return false
  if (part.length < 16) return part.length >= 8 && /\d/.test(part) && /[a-z]/i.test(part) && !/^[a-z]+_?v?\d{1,4}$|-/i.test(part)
  return /\d/.test(part)
    ? /[a-z]/i.test(part) && !/^[a-z]+(?:-[a-z]+)+-?\d*$/.test(part)
    : /[a-z]/.test(part) && /[A-Z]/.test(part) && !/[-_ ]/.test(part)
}

const clip = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(-nearCharactersMax).toWellFormed()
