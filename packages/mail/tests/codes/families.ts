// Texts with and without codes by family, beside the collected set. Names are made up.
import type { Sample } from './sample.ts'

const s = (wants: string, text: string, subject?: string): Sample => ({
  wants: wants === '' ? [] : wants.split(' '),
  text,
  ...(subject === undefined ? {} : { subject }),
})

/** The hash of an app that Android's SMS Retriever requires is not a code, wherever it stands. */
export const appHashes: Sample[] = [
  s('482913', '<#> 482913 is your Plover code\nFA+9qCX9VSu'),
  s('482913', '<#> Your Plover code is 482-913\nabAbCDEFO1g'),
  s('482913', '<#> קוד האימות שלך הוא 482913\nFA+9qCX9VSu'),
  s('482913', 'FA+9qCX9VSu\nקוד האימות שלך: 482913'),
  s('482913', '[#] Kode Anda: 482913\nq1W2e3R4t5Y'),
  s('482913', 'Your Plover code is 482913. q1W2e3R4t5Y'),
  s('', 'Thanks for riding with Plover!\nFA+9qCX9VSu'),
]

/** A number in each language, with the verb or the number first. */
export const languages: Sample[] = [
  s('003407', 'Use 003407 as your password for Plover'),
  s('482913', 'Verwende 482913 als dein Passwort'),
  s('482913', 'Utilisez 482913 comme mot de passe'),
  s('736136', 'Plover: VerifyCode:736136'),
  s('482913', 'LoginCode 482913'),
  s('3371337', 'Your Plover code is 337-1337'),
  s('482913', 'Din verifieringskod är 482913'),
  s('482913', '482913 är din autentiseringskod för Plover'),
  s('482913', '482913 er verifikasjonskoden din'),
  s('482913', 'Din sikkerhedskode er 482913'),
  s('482913', 'Vahvistuskoodisi on 482913'),
  s('482913', 'Sinu kinnituskood on 482913'),
  s('482913', 'Jūsu apstiprinājuma kods ir 482913'),
  s('482913', '482913 yra jūsų patvirtinimo kodas'),
  s('482913', 'Onay kodunuz 482913'),
  s('482913', 'Dogrulama kodunuz: 482913'),
  s('482913', 'Təsdiq kodunuz: 482913'),
  s('482913', 'El teu codi és 482913'),
  s('482913', 'Codi de verificació: 482913'),
  s('482913', 'Jou Plover verifikasiekode is: 482913'),
  s('482913', 'A hitelesítőkódja: 482913'),
  s('482913', 'Váš ověřovací kód je 482913'),
  s('482913', '482913 je overitvena koda za Plover'),
  s('482913', '482913 је ваш код за потврђивање'),
  s('482913', 'Кодът за потвърждение е 482913'),
  s('482913', '482913 – ваш код верифікації'),
  s('482913', 'Ο κωδικός επαλήθευσης είναι 482913'),
  s('482913', '482913 თქვენი დადასტურების კოდია'),
  s('482913', 'Ձեր հաստատման կոդը՝ 482913'),
  s('482913', 'הקוד שלך הוא 482913'),
  s('482913', 'رمز التحقق الخاص بك هو ٤٨٢٩١٣'),
  s('482913', 'کد تایید شما: ۴۸۲۹۱۳'),
  s('482913', 'আপনার যাচাইকরণ কোড ৪৮২৯১৩'),
  s('482913', 'आपका सत्यापन कोड ४८२९१३ है'),
  s('482913', 'உங்கள் சரிபார்ப்புக் குறியீடு: 482913'),
  s('482913', 'Ma xac thuc cua ban la 482913'),
  s('482913', 'Kod pengesahan anda ialah 482913'),
  s('482913', 'Msimbo wa uthibitishaji ni 482913'),
  s('482913', '您的验证码482913请勿泄露'),
  s('482913', '验证码482913'),
  s('482913', '482913验证码'),
  s('482913', '【画眉】482913短信登录验证码，5分钟内有效，请勿泄露。'),
  s('830829', 'G-830829'),
]

const aboutBoards = 'We have been trying to build the image for this board since last week, and it does not start. '.repeat(3)

/** Names with digits, numbers in program text, and other words that "code" stands beside. */
export const names: Sample[] = [
  s('', 'Welcome to 98point6, your code to better health'),
  s('', 'The code on hda1 is old, please update the code'),
  s('', 'ZODB4 code is released, and so is the X310 code'),
  s('', 'I had to port the X410 code to ZCU111 last year'),
  s('', 'Error Code: ERROR_CODE_TIMEOUT Out of sequence: No 500000'),
  s('', 'I changed the code to set FRAME_SIZE = 8500, half of 17000'),
  s('', 'set_attr("FP0A", "DDR") is the code that fails'),
  s('', 'The sse2 code: is it aligned?'),
  s('', 'Voicemail password: 482913'),
  s('', 'Received notification for sd 83, type 32769', 'Signal analysis'),
  s('', 'Which pin is GPIO26?'),
  s('', 'Our code: ZCU102, X310 and N210'),
  s('', 'My code is X310 only, and the board pin: PA15'),
  ...['code: ZCU102', 'The pin is PB12', 'The FPGA code:\n\nZCU102\n\nthanks', 'ZCU102 is the code that works', 'PIN = PB12'].map((line) =>
    s('', `${aboutBoards}\n${line}\n${aboutBoards}`),
  ),
]

/** Codes that look like a name, addressed to the reader. */
export const nameLikeCodes: Sample[] = [
  s('AB1234', 'Your code is AB1234'),
  s('K12345', 'PIN: K12345'),
  s('AB1234', `${aboutBoards}\nYour code:\n\nAB1234\n\n${aboutBoards}`),
  s('AB1234', `${aboutBoards}\nAB1234 is your PIN.`),
  s('AB1234', `${aboutBoards}\nIhr Code lautet AB1234.`),
  s('AB1234', `${aboutBoards}\nVotre code : AB1234`),
]

/** Links whose path is clear in any language, and tokens that end in a mark. */
export const clearLinks: Sample[] = [
  s(
    'https://plover.example/auth/confirmation?confirmation_token=Zx81kQpW2nMaB3cD4eF_',
    'Kinnita e-postiaadress <https://plover.example/auth/confirmation?confirmation_token=Zx81kQpW2nMaB3cD4eF_>',
    'Kinnitamisjuhised',
  ),
  s(
    'https://plover.example/auth/password/edit?reset_password_token=Zx81kQpW2nMaB3cD4eF-',
    'Vaihda salasana <https://plover.example/auth/password/edit?reset_password_token=Zx81kQpW2nMaB3cD4eF->',
    'Ohjeet salasanan vaihtoon',
  ),
  s(
    'https://plover.example/access/9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c',
    'Your link expires in 10 minutes.\n\nOpen Plover <https://plover.example/access/9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c>',
    'Plover',
  ),
  s('', 'Forum digest <https://plover.example/session/9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c>', 'News of the week'),
]
