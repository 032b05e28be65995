// Phrases beside one-time codes, by language. In lower case, with dashes as spaces.
import { each, list } from './phrase-lists.ts'

/** Phrases that mark an adjacent number as a one-time code. */
export const strong = [
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

/** Words that mark a number as a code when the message shows nothing else. */
export const weak = list(
  'your password|secret password|code|codes|pin|tan|kód|kódot|kod|kodu|kodunuz|kode|koden|koodi|código|codigo|clave|token|senha|codice|cod|codul|passord|код|кода|коду|кодом|пароль|κωδικός|رمز|الرمز|كود|קוד|הקוד|कोड|mã|şifre|şifreniz|parola',
)

/** Instructions. The next token is a code only when the message names a purpose. */
export const enter = list(
  'use|enter|type|input|key in|gib|geben sie|verwende|verwenden sie|nutze|nutzen sie|saisissez|utilisez|entrez|tapez|usa|use o|utiliza|introduce|ingresa|ingrese|introduzca|digite|insira|informe|usa il|inserisci|gebruik|voer|wpisz|podaj|użyj|zadejte|ange|använd|indtast|brug|girin|введите|используйте|используй|укажите|введіть|استخدم|أدخل|gunakan|masukkan|nhập',
)

// Languages without spaces between words. Particles and compounds may be adjacent.
export const strongJoined = list(
  '認証コード|確認コード|検証コード|セキュリティコード|セキュリティ コード|ワンタイムパスワード|ワンタイムコード|認証番号|確認番号|ログインコード|アクセスコード|パスコード|暗証番号|認証キー|承認コード|登録コード|验证码|驗證碼|校验码|校驗碼|动态码|动态密码|動態密碼|安全码|安全碼|安全代碼|安全代码|确认码|確認碼|登录码|登入碼|登錄碼|一次性密码|一次性密碼|一次性代码|验证代码|驗證代碼|认证码|認證碼|인증번호|인증 번호|인증코드|인증 코드|확인 코드|확인코드|확인 번호|보안 코드|보안코드|일회용 비밀번호|로그인 코드|일회용 코드|รหัสยืนยัน|รหัส otp|รหัสผ่านแบบใช้ครั้งเดียว',
)
export const weakJoined = list('コード|代码|代碼|코드|รหัส')
export const enterJoined = list('请输入|請輸入|输入|輸入|入力')
