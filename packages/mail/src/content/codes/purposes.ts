// The purpose of a code or a link, by the words around it.
import type { CodePurpose } from '@callsign/contract/codes'

// In order of priority: a payment is also confirmed by a sign-in, and a password reset also verifies an address.
const patterns: [CodePurpose, RegExp][] = [
  [
    'payment',
    /\b(?:payment|purchase|transfer|transaction of|pay )|zahlung|überweisung|paiement|virement|pago\b|compra de|transferencia|transferência|pagamento|платеж|платёж|перевод|оплат|покупк|決済|お支払い|送金|支付|付款|转账|轉帳|결제|이체/,
  ],
  [
    'password_reset',
    /reset|forgot|(?:new|change|changing|set|choose|create|recover) (?:your |a |the )*(?:\w+ )?password|password recovery|passwort (?:zurück|ändern|vergessen|neu)|kennwort (?:zurück|ändern)|neues passwort|réinitialis|mot de passe oublié|nouveau mot de passe|restablec|olvidaste|nueva contraseña|cambiar (?:tu|su) contraseña|redefin|nova senha|esqueceu|reimposta|wachtwoord (?:opnieuw|herstel|wijzig)|zresetuj|resetow|återställ|nulstil|tilbakestill|sıfırla|сброс|восстанов|смен[аыу] пароля|забыли пароль|скид(?:ання|ати) парол|再設定|リセット|パスワードの変更|重置|重設|找回密码|找回密碼|修改密码|재설정|비밀번호 변경|إعادة تعيين/,
  ],
  [
    'sign_in',
    /\b(?:sign|log)(?:ging|ning)?[ -]?in(?:to)?\b|\blog ?in\b|\blogon\b|magic link|access your account|anmeld|einlogg|einzuloggen|\blogin|connexion|connecter|inicio de sesión|iniciar sesión|iniciar sessão|acceder|acessar|entrar|accedi|accesso|inlogg|zalogow|logowan|logga in|log ind|logg inn|giriş|войти|вход|авториза|увійти|вхід|ログイン|サインイン|登录|登入|登錄|로그인|تسجيل الدخول|masuk|đăng nhập|σύνδεση|כניסה/,
  ],
  [
    'verify',
    /verif|vérif|confirm|activat|activer|validat|validier|valide|bestätig|aktivier|conferm|potwierd|ověř|bekräft|bekræft|bekreft|doğrula|onayla|подтвер|активир|верифи|провер|підтвер|認証|確認|検証|登録|验证|驗證|確认|确认|校验|激活|인증|확인|تحقق|تأكيد|تفعيل|xác minh|xác nhận|επαλήθευσ|επιβεβαί|אימות|सत्यापन|register|registrier|sign(?:ing)?[ -]?up|inscri|registr|регистра/,
  ],
]

/** The purpose that a text in lower case names, or null. */
export const purposeOf = (lower: string): CodePurpose | null => patterns.find(([, pattern]) => pattern.test(lower))?.[0] ?? null
