// Links that undo a confirmation, in the languages of the reader.
import { expect, test } from 'vitest'
import { findCodes } from './codes.ts'

const secret = 'https://app.example/mail/vf-8pQ2sT5vX9yB1cD4fG7hJ0kM3nP6qR8t'
const other = 'https://app.example/mail/uf-8pQ2sT5vX9yB1cD4fG7hJ0kM3nP6qR8t'
const linksIn = (text: string, subject = 'Confirm your email address') =>
  findCodes({ subject, text })
    .filter(({ kind }) => kind === 'confirmation_link')
    .map(({ value }) => value)

test.each([
  ['English', 'Click the link to confirm your email address', 'If that was a mistake, click here to cancel this verification'],
  ['English, reported', 'Verify your account here', 'Report this verification of your email address'],
  ['English, unsubscribed', 'Confirm your subscription', 'Unsubscribe to undo the confirmation of your account'],
  ['German', 'Bestätigen Sie Ihre E-Mail-Adresse', 'Klicken Sie hier, um diese Bestätigung zu stornieren'],
  ['German, abort', 'Bitte bestätigen', 'Um die Bestätigung der E-Mail-Adresse abzubrechen, klicken Sie auf diesen Link'],
  ['French', 'Confirmez votre adresse', 'Cliquez ici pour annuler cette vérification'],
  ['Spanish', 'Confirma tu correo', 'Haz clic para cancelar esta verificación'],
  ['Portuguese', 'Confirme sua conta', 'Clique aqui para cancelar esta verificação'],
  ['Italian', 'Conferma il tuo account', 'Clicca per annullare questa verifica'],
  ['Dutch', 'Bevestig je e-mailadres', 'Klik om deze bevestiging te annuleren'],
  ['Polish', 'Potwierdź adres e-mail', 'Kliknij, aby anulować to potwierdzenie'],
  ['Czech', 'Potvrďte e-mail', 'Klepnutím zrušíte toto ověření'],
  ['Swedish', 'Bekräfta din e-post', 'Klicka här för att avbryta denna bekräftelse'],
  ['Danish', 'Bekræft din e-mail', 'Klik for at annullere denne bekræftelse'],
  ['Turkish', 'E-posta adresini doğrula', 'Bu doğrulamayı iptal etmek için tıkla'],
  ['Russian', 'Подтвердите адрес', 'Нажмите, чтобы отменить подтверждение'],
  ['Ukrainian', 'Підтвердьте адресу', 'Натисніть, щоб скасувати підтвердження'],
  ['Greek', 'Επιβεβαίωση διεύθυνσης', 'Κάντε κλικ για να ακυρώσετε την επιβεβαίωση'],
  ['Arabic', 'تأكيد البريد', 'انقر لإلغاء تأكيد البريد'],
  ['Hebrew', 'אימות כתובת', 'לחץ כדי לבטל את האימות'],
  ['Vietnamese', 'Xác nhận địa chỉ', 'Nhấp để hủy xác nhận'],
  ['Indonesian', 'Konfirmasi email', 'Klik untuk membatalkan verifikasi'],
  ['Japanese', 'メールアドレスの認証', '認証をキャンセルする場合はこちら'],
  ['Chinese', '验证邮箱', '点击取消验证'],
  ['Korean', '이메일 인증', '인증을 취소하려면 클릭'],
])('%s: a link that confirms is found, and a link that undoes it is not', (_, confirm, undo) => {
  expect(linksIn(`${confirm}:\n\n${secret}\n\n${undo}:\n${other}\n`)).toEqual([secret])
  expect(linksIn(`${undo}:\n${other}\n`)).toEqual([])
})

test('a sentence before that cancels something does not matter', () => {
  expect(linksIn(`You can cancel at any time. Confirm your email address:\n${secret}\n`)).toEqual([secret])
  expect(linksIn(`Do not report this mail. Verify your account here:\n${secret}\n`)).toEqual([secret])
})

const codesIn = (text: string) => findCodes({ text }).map(({ value }) => value)

test.each([
  ['Your verification code is 6042219871.', '6042219871'],
  ['Bestätigungscode: 604221987', '604221987'],
  ['604221987 is your confirmation code', '604221987'],
  ['Votre code de confirmation\n\n604221987\n', '604221987'],
  ['認証コード：6042219871', '6042219871'],
  ['Código de confirmación: 604221987', '604221987'],
])('%j has a code of nine or ten digits', (text, code) => expect(codesIn(text)).toEqual([code]))

test.each([
  'Your code is ready. Call 8005551234 to get it.',
  'Order code: 604221987',
  'Tracking number 6042219871 is on its way with your code',
  'Reference: 604221987',
  'Your verification code is 123456789012.',
  'Ihre Kundennummer: 604221987',
])('%j has none', (text) => expect(codesIn(text)).toEqual([]))
