// Recognizes a message that is only an instruction and its code, such as "Register with 482913", by language.

/** Verbs and the preposition behind them, in lower case. The code follows. */
const before = [
  '(?:register|sign up|log in|sign in|continue|confirm|verify)(?: now)? (?:with|using)',
  '(?:registrier\\p{L}*|anmeld\\p{L}*|einloggen|bestätig\\p{L}*|melde?n?)(?: (?:dich|sie) ?(?:sich)?)? mit',
  "(?:inscri\\p{L}+|s'inscrire|enregistr\\p{L}+|connect\\p{L}+|se connecter)(?:[ -]vous)? avec",
  '(?:reg[ií]str\\p{L}+|rexístr\\p{L}+|inicia sesión|inicie sesión|accede|identifíc\\p{L}+|inscríb\\p{L}+) con',
  '(?:regist\\p{L}+|cadastr\\p{L}+|inscrev\\p{L}+|inici\\p{L}+ sessão|entre)(?:-se)? (?:com|usando)(?: o)?',
  "(?:registra\\p{L}*|iscriv\\p{L}+|accedi|registra't|inicia sessió) (?:con|usando|amb)",
  '(?:registreer|aanmelden|meld je aan|inloggen|log in)(?: je)? met',
  '(?:registrera?|opret|tilmeld|logga in|log ind|logg inn|skráðu)(?: (?:dig|deg|þig))? (?:med|með)',
  '(?:rekisteröidy|kirjaudu|registreeru|logi sisse)(?: käyttämällä)?',
  '(?:reģistrējieties|piesakieties) ar|(?:už(?:si)?registruo\\p{L}+|registruo\\p{L}+|prisijun\\p{L}+) (?:su|naudodami)',
  '(?:zarejestruj|zaloguj|zaregistruj\\p{L}*|registr\\p{L}+|prihlás\\p{L}*|přihlas\\p{L}*|prijav\\p{L}+)(?: (?:się|se|sa))? (?:z(?: użyciem)?|za pomocą|pomocí|pomocou|pomoću|se?|sa|s)',
  '(?:зарегистрируйтесь|регистрация|войдите|вход|реєстрація|зареєструйтеся|увійдіть|рэгістрацыя|зарэгіструйцеся|зарэгістравацца|увайдзіце) (?:с(?: помощью)?|по|з|за допомогою|праз)',
  '(?:регистр\\p{L}+|региструј\\p{L}*|најав\\p{L}+|пријав\\p{L}+|влезте)(?: се)? (?:с|са|со|със|помоћу)',
  '(?:εγγραφή|εγγραφείτε|σύνδεση|συνδεθείτε) με|(?:înregistr\\p{L}+|conect\\p{L}+)(?:-(?:te|vă))? cu|regjistrohu(?:ni)? me|cláraigh le',
  'erregistratu (?:honekin|kode honekin)|(?:التسجيل|سجل|سجّل|تسجيل الدخول) (?:باستخدام|عبر|بـ)|(?:הרשמה|הירשם|הירשמו|התחברות) עם',
  '(?:daftar|mendaftar|masuk|log masuk|sertai) (?:dengan|menggunakan)|(?:đăng ký|đăng nhập) (?:với|bằng)|(?:magparehistro|mag-?register|mag-?sign up|mag-?log ?in) gamit(?: ang)?',
  '(?:ji)?(?:sajili|ingia)(?: kwa)? (?:kutumia|na|kwa)|registreer met|teken in met|ลงทะเบียนด้วย|เข้าสู่ระบบด้วย|ចុះឈ្មោះ(?:ជាមួយ|ដោយប្រើ)',
]

/** The preposition and the verb in front of which the code stands. */
const behind = [
  'ile (?:kayd\\p{L}+|kayıt ol\\p{L}*|giriş yap\\p{L}*)|ilə (?:qeydiyyat\\p{L}*|daxil ol\\p{L}*)(?: keçin)?|(?:кодымен|арқылы) (?:тіркел\\p{L}*|кір\\p{L}*)|(?:менен|коду менен) (?:каттал\\p{L}*|кир\\p{L}*)|bilan (?:ro.yxatdan o.t\\p{L}*|kir\\p{L}*)',
  'kóddal|koodilla|koodiga',
  '(?:ثبت.?نام|وارد|ورود)(?: کنید| شوید)?|(?:کے ساتھ|سے) (?:رجسٹر|سائن اپ|لاگ ان)[\\p{L} ]*|بىلەن (?:تىزىملى|كىر)\\p{L}*',
  '(?:के साथ|से) (?:रजिस्टर|पंजीकरण|साइन|लॉग)[\\p{L}\\p{M} ]*|(?:सह|वापरून) (?:नोंदणी|साइन)[\\p{L}\\p{M} ]*|(?:দিয়ে|এর সাথে|সহ) (?:নিবন্ধন|রেজিস্টার|সাইন)[\\p{L}\\p{M} ]*',
  '(?:સાથે|વડે) (?:રજિસ્ટર|રજીસ્ટર|નોંધણી)[\\p{L}\\p{M} ]*|(?:ਨਾਲ) (?:ਰਜਿਸਟਰ|ਸਾਈਨ)[\\p{L}\\p{M} ]*|(?:உடன்|மூலம்|கொண்டு|வைத்து) [\\p{L}\\p{M}]*பதிவு[\\p{L}\\p{M} ]*|తో (?:నమోదు|రిజిస్టర్)[\\p{L}\\p{M} ]*',
  '(?:ನೊಂದಿಗೆ|ಜೊತೆಗೆ|ಬಳಸಿ) (?:ನೋಂದಾಯಿಸಿ|ನೋಂದಣಿ)[\\p{L}\\p{M} ]*|(?:ഉപയോഗിച്ച്) (?:രജിസ്റ്റർ)[\\p{L}\\p{M} ]*|ဖြင့် (?:စာရင်းသွင်း|မှတ်ပုံတင်|ဝင်ရောက်)[\\p{L}\\p{M}]*',
  '(?:を使用して|を使って|で|を)(?:登録|ログイン|サインアップ)[\\p{L}]*|(?:으로|로|을 사용하여|를 사용하여) ?(?:등록|가입|로그인)[\\p{L} ]*',
]

/** A word for the code between the instruction and the code, with at most ten letters. */
const codeWord =
  '(?: (?:(?:the|den|le|el|il|o) )?(?:code|kode|kood\\p{L}*|kod\\p{L}*|kód\\p{L}*|códig[oa]|codice|cod\\p{L}*|код\\p{L}*|шифр\\p{L}*|κωδικό))?'

const instruction = new RegExp(
  `^(?:[^#:\\n]{1,24}: ?)?(?:(?:${before.join('|')})${codeWord}[ :]{0,2}#(?: ?(?:${behind.join('|')}))?|(?:[\\p{L}()-]{1,14} ){0,4}#(?:-\\p{L}{1,3})? ?(?:${behind.join('|')})|请?(?:使用|用) ?# ?(?:注册|註冊|登录|登入|登錄)|mit # (?:registrieren|anmelden|einloggen|bestätigen)|(?:დარეგისტრირდი|შედი)\\p{L}* #-(?:ით|ის საშუალებით))[.!။।]?$`,
  'u',
)

/** Longer texts are not only an instruction. */
export const instructionCharactersMax = 70

/** True when a text is only an instruction to register or sign in with the code from `start` to `end`. */
export function isShortInstruction(text: string, start: number, end: number): boolean {
  if (text.length > instructionCharactersMax) return false
  const rest = `${text.slice(0, start)}#${text.slice(end)}`.trim()
  return !/\d/.test(rest) && instruction.test(rest.toLowerCase())
}
