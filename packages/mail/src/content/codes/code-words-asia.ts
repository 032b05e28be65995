// Phrases beside one-time codes in the languages of Asia and Africa. In lower case, with dashes as spaces, without zero-width joiners.
import { each, list } from './phrase-lists.ts'

/** Phrases that mark an adjacent number as a one-time code. */
export const strongOfAsia = [
  // Hebrew, Arabic, Persian, Urdu, Kurdish, Sindhi, Pashto
  ...each(
    'קוד|הקוד|קוד ה|בקוד',
    'אימות|האימות|אבטחה|האבטחה|כניסה|הכניסה|גישה|הגישה|חד פעמי|החד פעמי|זיהוי|הזיהוי|הפעלה|התחברות|לאימות|לכניסה|+אימות',
  ),
  ...list('סיסמה חד פעמית|הסיסמה החד פעמית|סיסמא חד פעמית|סיסמה זמנית'),
  ...each(
    'رمز|كود|الرمز|الكود',
    'التحقق|التأكيد|الدخول|الأمان|التفعيل|المصادقة|الاستخدام لمرة واحدة|الوصول|السري|تسجيل الدخول|تحقق|تفعيل|تأكيد|الخاص للتحقق|التوثيق',
  ),
  ...list('كلمة المرور لمرة واحدة|كلمة السر لمرة واحدة|كلمة مرور لمرة واحدة|الرقم السري المؤقت|رمز otp'),
  ...each('کد|رمز', 'تأیید|تایید|امنیتی|ورود|فعال سازی|فعالسازی|احراز هویت|یکبار مصرف|یک بار مصرف|پویا|ورودی|اعتبارسنجی|بازیابی'),
  ...each('تصدیقی|توثیقی|سیکیورٹی|لاگ ان|تصدیق', 'کوڈ|کا کوڈ'),
  ...list('ويريفڪيشن ڪوڊ|تصديقي ڪوڊ|د تایید کوډ|کۆدی دڵنیایی|کۆدی پشتڕاستکردنەوە|او ٹی پی|دەلىللەش كودىڭىز|تەستىقلاش كودىڭىز|جەزملەش كودى'),
  // Languages of India, Nepal, Bangladesh, Sri Lanka
  ...each('सत्यापन|सुरक्षा|पुष्टि|पुष्टिकरण|वेरिफिकेशन|लॉगिन|प्रमाणीकरण|प्रमाणिकरण|पडताळणी|ओटीपी', 'कोड|कोड है|संकेत'),
  ...list('वन टाइम पासवर्ड|वन टाइम पिन|ओटीपी'),
  ...each('যাচাইকরণ|যাচাই|ভেরিফিকেশন|নিরাপত্তা|নিশ্চিতকরণ|লগইন|প্রমাণীকরণ|প্ৰমাণীকৰণ|সত্যাপন|ওটিপি', 'কোড|কোডটো|কোডটি|কোডটা|কোড হল|কোড হলো|ক’ড'),
  ...list('ওটিপি|ওয়ান টাইম পাসওয়ার্ড|ઓટીપી|ਓਟੀਪੀ|ஓடிபி|ఓటీపీ|ಒಟಿಪಿ|ഒടിപി'),
  ...each('ચકાસણી|સુરક્ષા|વેરિફિકેશન|પુષ્ટિકરણ', 'કોડ'),
  ...each('ਪੁਸ਼ਟੀਕਰਨ|ਤਸਦੀਕ|ਵੈਰੀਫਿਕੇਸ਼ਨ|ਸੁਰੱਖਿਆ', 'ਕੋਡ'),
  ...each('சரிபார்ப்புக்|சரிபார்ப்பு|பாதுகாப்பு|உறுதிப்படுத்தல்|அங்கீகார', 'குறியீடு|குறியீட்டை|குறியீடானது'),
  ...each('ధృవీకరణ|ధ్రువీకరణ|వెరిఫికేషన్|భద్రతా|నిర్ధారణ', 'కోడ్|కోడ్‌ను|కోడును'),
  ...each('ಪರಿಶೀಲನಾ|ಪರಿಶೀಲನೆ|ದೃಢೀಕರಣ|ಭದ್ರತಾ|ವೆರಿಫಿಕೇಶನ್', 'ಕೋಡ್|ಕೋಡ್ ಅನ್ನು'),
  ...each('സ്ഥിരീകരണ|പരിശോധനാ|വെരിഫിക്കേഷൻ|സുരക്ഷാ', 'കോഡ്|കോഡ് നൽകുക'),
  ...each('සත්යාපන|තහවුරු කිරීමේ|ආරක්ෂක', 'කේතය|කේතය වන්නේ'),
  ...each('ଯାଞ୍ଚ|ପ୍ରମାଣୀକରଣ|ସତ୍ୟାପନ|ୟାଞ୍ଚ', 'କୋଡ|କୋଡ୍|କୋଡଟି'),
  // Indonesian, Malay, Filipino, Vietnamese
  ...each(
    'kode|kod|kata sandi|kata laluan|sandi',
    'verifikasi|otp|keamanan|konfirmasi|masuk|autentikasi|otentikasi|aktivasi|akses|rahasia|pengesahan|keselamatan|pengaktifan|log masuk|sekali pakai|sekali guna|satu kali|login',
  ),
  ...each('mã|mật khẩu', 'kích hoạt|truy cập|giao dịch|một lần|dùng một lần|pin|kiểm tra|xác thực otp|bí mật|khôi phục'),
  ...list('kode pag verify|pamberipikasyong code|code sa pagpapatunay|code sa pag verify|code ng pag verify|numero sa pag verify'),
  // Turkic languages, Tajik, Mongolian
  ...each('растау|тексеру|қауіпсіздік|кіру|тіркелу|верификация', 'коды|кодыңыз|кодын|кодыңызды'),
  ...each('ырастоо|тастыктоо|текшерүү|коопсуздук|кирүү|каттоо', 'коду|кодуңуз|кодун'),
  ...each('раслау|тикшерү|тасдиқлаш|хавфсизлик', 'коды|коди|кодингиз'),
  ...list('рамзи тасдиқ|рамзи тасдиқи|коди тасдиқ|tassyklama kody|tassyklaýyş kody|barlag kody|баталгаажуулах код|нэвтрэх код|нууц код'),
  // Languages of Africa
  ...each(
    'msimbo|msimbo wako|nambari|nambari yako|namba|namba yako|kodi|kodi yako',
    'wa uthibitishaji|wa kuthibitisha|wa uthibitisho|wa usalama|wa kuingia|ya uthibitishaji|ya kuthibitisha|ya uthibitisho|ya usalama|ya siri|ya kuingia',
  ),
  ...list(
    'ikhodi yakho yokuqinisekisa|ikhowudi yakho yokuqinisekisa|ikhodi yokuqinisekisa|lambar tantancewa|lambar sirri|lambarka sirta|koodhka hubinta|kóòdù ìjẹ́rìísí|koodu ijerisi|koodu nkwenye|koodu nyocha|kode yo kwemeza|kaody fanamarinana|kaody fanamafisana|የማረጋገጫ ኮድዎ|የማረጋገጫ ኮድህ|የማረጋገጫ ኮዱ|የማረጋገጫ ቁጥር|የይለፍ ቁጥር',
  ),
  ...list(
    'msimbo wa uthibitishaji|msimbo wa uthibitisho|msimbo wa usalama|namba ya uthibitisho|nambari yako ya kuthibitisha|nambari yako ya uthibitishaji|nambari ya kuthibitisha|nambari ya uthibitishaji|ikhodi yokuqinisekisa|ikhowudi yokuqinisekisa|lambar tabbatarwa|koodhka xaqiijinta|lambarka xaqiijinta|kodhi yekusimbisa|የማረጋገጫ ኮድ|የደህንነት ኮድ',
  ),
]

/** Words that mark a number as a code when the message shows nothing else. */
export const weakOfAsia = list(
  'הסיסמה|סיסמה|סיסמתך|סיסמתכם|הקוד שלך|קודך|الكود|رمزك|كودك|پاسکوڈ|پاس کوڈ|گذرواژه|गोपनीय कोड|पासकोड|পাসকোড|পাসকোডটি|পাসকোডটা|পাসকোডটিকে|কোডটিকে|টোকেন|टोकन|પાસકોડ|ਪਾਸਕੋਡ|கடவுக்குறியீடு|కోడ్ను|పాస్కోడ్|ಪಾಸ್ಕೋಡ್|പാസ്കോഡ്|മുറകേതയ|මුරකේතය|කේතයයි|ኮድዎ|ኮድህ|ኮዱ|lambar|koodka|kaody|kode ya|کد|رمز|کوڈ|ڪوڊ|کۆد|কোড|কোডটি|কোডটা|કોડ|ਕੋਡ|குறியீடு|కోడ్|ಕೋಡ್|കോഡ്|කේතය|କୋଡ|msimbo|nambari ya siri|ikhodi|koodhka|ኮድ|kodhi',
)

/** Instructions to type the code. */
export const enterOfAsia = list(
  'הזן|הזינו|הקלד|הקלידו|השתמש|השתמשו|وارد کنید|استفاده کنید|أدخل|ادخل|استخدم|استعمل|درج کریں|استعمال کریں|दर्ज करें|उपयोग करें|इस्तेमाल करें|প্রবেশ করুন|ব্যবহার করুন|লিখুন|દાખલ કરો|ਦਰਜ ਕਰੋ|உள்ளிடவும்|நமోదు చేయండి|నమోదు చేయండి|ನಮೂದಿಸಿ|നൽകുക|ඇතුළත් කරන්න|masukkan|gunakan|guna|masukan|ilagay|gamitin|tumia|weka|ingiza|nhập|sử dụng|dùng|አስገባ',
)

// Languages without spaces between words. Particles and compounds may be adjacent.
export const strongJoinedOfAsia = list(
  '認証用コード|本人確認コード|ワンタイムパス|段階認証コード|照合番号|仮パスワード|ログイン用コード|一時コード|確認用コード|暗証コード|短信码|短信验证码|识别码|激活码|授权码|动态口令|动态验证码|随机码|登陆码|认证码|一次性口令|临时密码|臨時密碼|簡訊驗證碼|驗證密碼|啟用碼|動態碼|交易码|检验码|確認代碼|检验代码|验证密码|手机动态码|验证口令|识别代码|核驗碼|核验码|短信口令|本人확인번호|본인확인번호|본인확인 번호|승인번호|임시 비밀번호|임시비밀번호|보안번호|인증키|รหัสความปลอดภัย|รหัสเข้าสู่ระบบ|รหัสผ่านชั่วคราว|รหัสตรวจสอบ|รหัสการยืนยัน|ລະຫັດຢືນຢັນ|ລະຫັດ otp|លេខកូដផ្ទៀងផ្ទាត់|កូដផ្ទៀងផ្ទាត់|លេខកូដបញ្ជាក់|အတည်ပြုကုဒ်|လုံခြုံရေးကုဒ်',
)
export const weakJoinedOfAsia = list('ລະຫັດ|លេខកូដ|កូដ|ကုဒ်|トークン|パスワード|暗号|토큰|비밀번호|令牌|口令|โทเค็น|โทเคน|โค้ด')
export const enterJoinedOfAsia = list('填写|填寫|請填|ใช้รหัส|กรอก|ป้อน|입력|사용하여')
