// Phrases beside one-time codes in the languages of Europe, Turkey and the Caucasus. In lower case, with dashes as spaces.
import { each, list } from './phrase-lists.ts'

/** Phrases that mark an adjacent number as a one-time code. */
export const strongOfEurope = [
  // English without spaces, as in "VerifyCode:123456"
  ...each(
    'verify|verification|security|auth|authentication|login|sms|otp|activation|confirm|confirmation|access|dynamic|check',
    '+code|+pin',
  ),
  ...list(
    'sms code|text code|dynamic code|dynamic password|one time verification code|one time passcode|secure code|secret code|auth number',
  ),
  // German, Dutch, Afrikaans
  ...each(
    'überprüfungs|authentifikations|validierungs|identifikations|identifizierungs|legitimations|transaktions|bestätigungs sms|sms|otp|2fa',
    '+code|+codes|+ code|+pin|+tan|+nummer',
  ),
  ...each('authenticatie|validatie|herstel|registratie|aanmeld|autorisatie|sms|sms |identificatie|eenmalige ', '+code|+codes|+pincode'),
  ...each(
    'verifikasie|bevestigings|sekuriteits|veiligheids|aanteken|aanmeld|toegangs|aktiverings|eenmalige |stawings',
    '+kode|+kodes|+pin',
  ),
  ...each('verifikatiouns|bestätegungs|sécherheets', '+code'),
  // French, Spanish, Portuguese, Galician, Catalan, Italian, Romanian
  ...each(
    'code|codes',
    "d'authentification unique|d'identification|de récupération|de double authentification|secret|unique|confidentiel|sms|otp",
  ),
  ...each(
    'código|codigo|códigos',
    'de identificación|de identificação|otp|sms|de seguridade|de desbloqueo|de confirmación único|de uso único|de un uso|de sesión',
  ),
  ...each(
    'codi|codis|clau|contrasenya',
    "de verificació|de seguretat|de confirmació|d'accés|d'autenticació|d'activació|d'un sol ús|d'un únic ús|d'inici de sessió|de validació|temporal|otp|sms|d'autorització",
  ),
  ...each('codice', 'di autorizzazione|di sblocco|di login|di recupero|di validazione|usa e getta|segreto|pin|sms|di identificazione'),
  ...each(
    'cod|codul|codului|codurile',
    'de verificare|de securitate|de confirmare|de acces|de autentificare|de activare|de validare|unic|otp|de conectare|tău de verificare',
  ),
  // Scandinavian languages
  ...each(
    'verifierings|verifikations|verifikasjons|autorisasjons|identifikasjons|godkjennings|verifiserings|bekräftelse|bekræftelses|bekreftelses|säkerhets|sikkerheds|sikkerhets|engångs|engangs|inloggnings|innloggings|påloggings|login|autentiserings|autentificerings|godkännande|godkendelses|aktiverings|åtkomst|adgangs|tilgangs|kontroll|kontrol|validerings|identifierings|legitimerings|sms |sms',
    '+kod|+koden|+koder|+kode|+kodene|+koderne',
  ),
  ...each(
    'staðfestingar|öryggis|auðkenningar|innskráningar|einnota |aðgangs|váttanar',
    '+kóði|+kóðinn|+kóða|+kóðann|+kota|+kotu|+koda|+númer',
  ),
  // Finnish, Estonian, Hungarian
  ...each(
    'vahvistus|turva|kertakäyttö|kirjautumis|todennus|varmennus|tunnistautumis|aktivointi|pääsy|tarkistus|varmistus',
    '+koodi|+koodisi|+koodin|+koodia|+koodilla',
  ),
  ...each('kinnitus|turva|ühekordne |autentimis|sisselogimis|verifitseerimis|kontroll|kinnituse ', '+kood|+koodi|+koodiga'),
  ...each(
    'ellenőrző|megerősítő|biztonsági|hitelesítő|hitelesítési|belépési|bejelentkezési|egyszer használatos|azonosító|aktiváló|visszaigazoló|igazoló',
    'kód|kódot|kódja|kódod|kódját|kódodat|+kód|+kódot|+kódja|+kódod|+kódját|jelszó',
  ),
  // Baltic languages
  ...each(
    'verifikācijas|apstiprinājuma|apstiprināšanas|drošības|autentifikācijas|piekļuves|vienreizējais|vienreizējs|pieteikšanās',
    'kods|kodu|kodam|parole',
  ),
  ...each(
    'patvirtinimo|saugos|saugumo|autentifikavimo|prisijungimo|tapatybės nustatymo|vienkartinis|tikrinimo',
    'kodas|kodą|kodu|slaptažodis',
  ),
  // Slavic languages
  ...each(
    'kod|kodu|kodem',
    'uwierzytelniający|uwierzytelniania|weryfikacji|autoryzacji|aktywacji|zabezpieczający|dostępowy|odzyskiwania|otp',
  ),
  ...each(
    'ověřovací|bezpečnostní|potvrzovací|přihlašovací|autentizační|autentifikační|autorizační|aktivační|jednorázový|přístupový',
    'kód|kódu|kódem',
  ),
  ...each('overovací|bezpečnostný|potvrdzovací|prihlasovací|autentifikačný|autorizačný|aktivačný|jednorazový|prístupový', 'kód|kódu|kódom'),
  ...each('preveritvena|preverovalna|potrditvena|varnostna|overitvena|prijavna|enkratna|dostopna', 'koda|kode'),
  ...each('preveritveno|preverovalno|potrditveno|varnostno|overitveno|prijavno|enkratno|dostopno', 'kodo'),
  ...each(
    'verifikacijski|verifikacioni|potvrdni|sigurnosni|bezbednosni|bezbjednosni|jednokratni|autentifikacijski|autorizacijski|aktivacijski|aktivacioni|pristupni|kontrolni',
    'kod|kôd|kodom|koda',
  ),
  ...each('kod|kôd|šifra|šifru|lozinka', 'za potvrdu|za verifikaciju|za prijavu|za provjeru|za proveru|za pristup|za autentifikaciju'),
  ...each('верификациони|потврдни|безбедносни|сигурносни|једнократни|верификациски|сигурносен|еднократен', 'код|кôд|кодот'),
  ...each('код|кôд|кодот', 'за потврђивање|за проверу|за пријаву|за потврду|за приступ|за потврда|за верификација|за најава'),
  ...each('код|кодът|кода', 'за потвърждение|за сигурност|за вход|за достъп|за удостоверяване|за проверка|за активиране|за потвърждаване'),
  ...each('код|кода', 'аутентификации|двухфакторной|из смс|авторизации в|для подтверждения входа|для смены|для доступа|для восстановления'),
  ...each(
    'код',
    'автентифікації|верифікації|входу|для входу|для підтвердження|перевірки|пацверджання|праверкі|бяспекі|верыфікацыі|уваходу|для ўваходу',
  ),
  ...list(
    'еднократна парола|праверачны код|аднаразовы код|аднаразовы пароль|пароль для входа|пароль для входу|код перевірки|пин код|пін код',
  ),
  // Greek, Albanian, Celtic languages, Basque, Maltese, Latin, Esperanto
  ...each(
    'κωδικός|κωδικό|κωδικού|ο κωδικός',
    'επαλήθευσης|μιας χρήσης|ασφαλείας|σύνδεσης|επιβεβαίωσης|πρόσβασης|ταυτοποίησης|πιστοποίησης|ελέγχου ταυτότητας|ενεργοποίησης|αυθεντικοποίησης',
  ),
  ...each('kodi|kodin', 'i verifikimit|e verifikimit|i sigurisë|i konfirmimit|i vërtetimit|i hyrjes|juaj i verifikimit'),
  ...list(
    'cód fíoraithe|chód fíoraithe|chód fíordheimhnithe|chód slándála|cód slándála|cód fíordheimhnithe|cód deimhnithe|còd dearbhaidh|còd dearbhachaidh|còd tèarainteachd|cod dilysu|cod diogelwch|cod cadarnhau',
  ),
  ...each('egiaztapen|segurtasun|baieztapen|autentifikazio|egiaztatze|berrespen', 'kodea|kode'),
  ...list(
    "kodiċi ta' verifika|codicem verificationis|codex verificationis|konfirmkodo|konfirmkodon|kontrolkodo|kontrolkodon|sekureckodo|kontrola kodo|aŭtentiga kodo|aŭtentikiga kodo",
  ),
  // Polish, and Russian in Latin letters
  ...each(
    'hasło|hasla|parol|kod',
    'do autoryzacji|do logowania|do potwierdzenia|sms|dlya podtverzhdeniya|dlya vhoda|dlya vkhoda|podtverzhdeniya|podtverjdeniya|dostupa|avtorizacii|avtorizatsii',
  ),
  // Turkish and its relatives, Georgian, Armenian
  ...each(
    'doğrulama|onay|güvenlik|giriş|aktivasyon|tek kullanımlık|kimlik doğrulama|hesap doğrulama|sms|sms doğrulama|sms onay|üyelik|şifre|tek seferlik|onaylama',
    'kodu|kodun|kodunuz|kodunuzu|kodunu|kod|kodunuzdur|şifre|şifreniz|şifresi|parola|parolanız|pin',
  ),
  ...each('təsdiq|təsdiqləmə|doğrulama|təhlükəsizlik|giriş|birdəfəlik|aktivasiya', 'kodu|kodunuz|kod|kodunu|şifrə|parol'),
  ...each('tasdiqlash|tasdiq|xavfsizlik|kirish|bir martalik', 'kodi|kodingiz|kod|parol'),
  ...list(
    'растау коды|құпия код|кіру коды|растау коды:|тастыктоо коду|тасдиқлаш коди|баталгаажуулах код|баталгаажуулалтын код|нэвтрэх код|нэг удаагийн код',
  ),
  ...each('დადასტურების|ვერიფიკაციის|აუტენტიფიკაციის|უსაფრთხოების|ავტორიზაციის|ერთჯერადი', 'კოდი|კოდია|კოდს|კოდით'),
  ...each('հաստատման|անվտանգության|մուտքի|նույնականացման|վավերացման|միանգամյա', 'կոդ|կոդը|կոդն|ծածկագիր|ծածկագիրը'),
]

/** Words that mark a number as a code when the message shows nothing else. */
export const weakOfEurope = list(
  'codi|kodea|kods|kodas|kodą|kood|koodi|koodisi|koodin|kóði|kóðinn|koda|kodo|kôd|кôд|кодът|коды|коду|коди|kodi|kodin|kodi juaj|šifra|còdighe|kodingiz|kodun|kodunuzdur|cód|còd|kodiċi|kodo|adgangskode|lösenord|còdi|hasło|шифра|шифру|kodeja|kodearekin|kòd|ваша шифра|токен|токена|tokeni|tokenul|tokenisi|tokeniniz|jeton|tokenin|κωδικό|κωδικού|კოდი|კოდია|կոդ|կոդը|kódod|kódja|tac',
)

/** Instructions to type the code. */
export const enterOfEurope = list(
  'gebruiken|vul|voer in|fyll i|skriv|skriv in|skriv inn|tast|tast inn|oppgi|angi|syötä|käytä|kirjoita|sisestage|kasutage|ievadiet|izmantojiet|įveskite|naudokite|vnesite|uporabite|unesite|upišite|koristite|iskoristite|použijte|použite|zadajte|adja meg|írja be|használja|használd|introduceți|introdu|folosește|folosiți|utilizați|introdueix|introduïu|utilitza|insereixi|въведете|използвайте|внесете|унесите|искористите|використайте|використовуйте|увядзіце|выкарыстайце|εισαγάγετε|πληκτρολογήστε|χρησιμοποιήστε|girin|giriniz|kullanın|kullan|yazın|daxil edin|gebruik|voer|sláðu inn|notaðu|përdorni|vendosni|sartu|erabili|digita|utilisez le|saisir|renseignez|enter code|енгізіңіз|оруулна уу|შეიყვანეთ|გამოიყენეთ|մուտքագրեք',
)
