// Patterns of the text between a phrase and a number, by language.

// "is" in many languages. The short ones are other words in other languages.
const clearCopula = 'is|ist|lautet|es|est|és|é|è|er|är|jest|este|adalah|ialah|là|είναι|הוא|هو|هي|это|है|হল|হলো'
const copula = `${clearCopula}|e|je|to|yra|ir|on|ye|da|la|є|е|је|це|гэта|olan|ay|ni|हैं|हो|आहे`
export const tight = new RegExp(`^[\\s:=*"'(«»【「『は이가은는]*$|^ ?(?:${copula}|#|は|是|为|為)[\\s:*"'「【]*$`)
export const connected = new RegExp(
  `(?:(?<!\\p{L})(?:${copula}|code|nummer|below|following)|[:=-]|は|是|为|為|[이가은는])[\\s:*"'«「【[(]*$`,
  'u',
)
export const explicit = new RegExp(`[:：=\\n]|(?<!\\p{L})(?:${clearCopula})(?![\\p{L}\\p{M}])|は|是|为|為`, 'u')
export const stated = new RegExp(`(?<!\\p{L})(?:${copula})[\\s:]*$|[:는은は是为]\\s*$`, 'u')
export const behindStart = new RegExp(
  `^["'»」】)\\]*]{0,3} ?(?:[-:(,]|(?:${copula}|e'|as|for|olarak|como|comme|als|com|som|jako|как|sebagai|your|ваш|ti|sizin)(?![\\p{L}\\p{M}])|でご?|は|が|を|です|是|为|為|作为|作為|입니다|을|를)`,
  'u',
)

/** Words that address the reader in front of "code". Devices have codes and pins too: "the pin is GPIO26". */
export const possessive =
  /(?<!\p{L})(?:your|this|ihre?n?|deine?n?|votre|ton|tu|su|sua|seu|tuo|suo|uw|je|jouw|din|ditt|dit|sinun|twój|tvůj|váš|ваш|твой|твій|sizin|kamu|anda|bạn|あなたの|您的|你的|您|你|귀하의)[^\n:.,]{0,24}$/iu
/** Words in front of the code of something else. */
export const notAddressed = /(?<!\p{L})(?:(?:which|whose|what|my|our)(?: [\w-]+)?|the [\w-]+)[ -]$/iu

// A sign of program text, whose "code" is another one.
export const technical = /[_=<>{}()/\\]/

// A sentence has ended, or a paragraph.
export const breakPattern = /[.!?](?=[\s"')])|[。！？]|\n\n/

export const hanGap = /^\p{Script=Han}{0,8}$/u
export const fewWords = /^['"”“»]? (?:[\p{L}\p{M}'’„“".-]+ ){1,5}['"„“]?$/u
export const opening =
  /^\s*(?:<#>|\[[^\]\n]{0,30}\]|\([^)\n]{0,30}\)|【[^】\n]{0,30}】|\p{L}{1,3} \p{L}{1,3}(?= )|[\p{L}\d. -]{1,25}[:：-])?\s*['"„“»”]?$/u

export const instructed =
  /verif(?:y|ic)|confirm|\blog(?:ging)?[ -]?(?:in|on)\b|\bsign(?:ing)?[ -]?(?:in|up|on)\b|to access|reset|activat|as your|(?:als|comme|como|come|com|som|jako|как|sebagai|olarak) [^.!?\n]{0,24}(?:passwor|kennwort|mot de passe|contraseñ|senha|palavra|wachtwoord|lösenord|adgangskode|passord|hasło|heslo|парол|şifre|sandi|code|kod|código|codice|код)|bestätig|anmeld|anzumeld|einzulogg|connect|vérif|valid|inici|acced|acess|entrar|провер|подтвер|войти|вход|認証|確認|ログイン|验证|驗證|登录|登入|인증|doğrula|giriş|potwierd|zalog|masuk|تسجيل|التحقق/

/** The text between a code of letters and the phrase behind it. */
export const verbBehind = new RegExp(`^["'»”]? ?(?:(?:${copula})(?![\\p{L}\\p{M}])|は|が|是|为|為)`, 'u')
