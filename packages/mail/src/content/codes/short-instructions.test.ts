// Messages that are only an instruction and its code.
import { expect, test } from 'vitest'
import { findCodes } from './codes.ts'

const valuesIn = (text: string): string[] => findCodes({ text }).flatMap((code) => (code.kind === 'one_time_code' ? [code.value] : []))

test.each([
  'Log in with 482913',
  'SUMMIT: Sign up using code 482913.',
  'Bestätigen mit 482913',
  'Connectez-vous avec 482913',
  'Inicia sesión con 482913',
  'Inscreva-se com o código 482913',
  'Accedi con 482913',
  'Meld je aan met 482913',
  'Logga in med 482913',
  'Kirjaudu käyttämällä koodia 482913',
  'Piesakieties ar 482913',
  'Zaloguj się za pomocą kodu 482913',
  'Přihlaste se pomocí 482913',
  'Войдите с помощью 482913',
  'Увійдіть за допомогою 482913',
  'Συνδεθείτε με 482913',
  'Conectează-te cu 482913',
  'Mit 482913 anmelden',
  'Prijavite se pomoću 482913',
  'Најавите се помоћу шифре 482913',
  'Увайдзіце з 482913',
  'შედით 482913-ით',
  'Mag-log in gamit ang 482913',
  '482913 વડે રજિસ્ટર કરો',
  '482913 ile giriş yapın',
  'تسجيل الدخول باستخدام 482913',
  'התחברות עם 482913',
  'با 482913 وارد شوید',
  '482913 کے ساتھ لاگ ان کریں',
  '482913 के साथ साइन अप करें',
  'เข้าสู่ระบบด้วย 482913',
  'Đăng nhập bằng 482913',
  'Masuk dengan 482913',
  'Ingia kwa kutumia 482913',
  '用482913登录',
  '482913を使ってログイン',
  '482913으로 로그인하세요',
])('%s', (text) => {
  expect(valuesIn(text)).toEqual(['482913'])
})

test.each([
  '482913 users registered',
  'We signed up with 482913 others',
  'Registrations in May: 482913',
  '用户 482913 登录',
  'Anmeldung 482913',
  'Log in with 4829',
  'Register with 482913 and pay 20 euros',
  'Register with 482913 of your friends for the fair in the old town hall on Sunday',
])('%s is not one', (text) => {
  expect(valuesIn(text)).toEqual([])
})
