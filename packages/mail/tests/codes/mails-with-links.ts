// Mails that want a link opened once, as plain text and as HTML becomes text. Names are made up.
import type { Sample } from './sample.ts'

const s = (wants: string, subject: string, text: string): Sample => ({ wants: wants.split(' '), subject, text })

export const mailsWithLinks: Sample[] = [
  s(
    'https://app.larkspur.example/verify-email?token=9f8a7c6b5d4e3f2a1b0c',
    'Verify your email',
    'Hi Ada,\n\nPlease verify your email address by clicking the link below:\n\nhttps://app.larkspur.example/verify-email?token=9f8a7c6b5d4e3f2a1b0c\n\nIf you did not create an account, ignore this email.\n\nUnsubscribe: https://app.larkspur.example/unsubscribe?u=9f8a7c6b5d4e3f2a1b0c',
  ),
  s(
    'https://click.mailer.example/ls/click?upn=u001.AbCdEf0123456789xyzXYZ',
    'Please confirm your email address',
    'Welcome to Heron!\n\nConfirm email address <https://click.mailer.example/ls/click?upn=u001.AbCdEf0123456789xyzXYZ>\n\nHelp Center <https://click.mailer.example/ls/click?upn=u001.ZZZZZZ0123456789helpHELP> · Privacy <https://click.mailer.example/ls/click?upn=u001.YYYYYY0123456789privPRIV>',
  ),
  s(
    'https://osprey.example/auth/magic?token=eyJhbGciOiJIUzI1NiJ9.eyJ1IjoxfQ.c2ln',
    'Your sign-in link',
    'Click the link below to sign in to Osprey. This link expires in 15 minutes and can only be used once.\n\nhttps://osprey.example/auth/magic?token=eyJhbGciOiJIUzI1NiJ9.eyJ1IjoxfQ.c2ln',
  ),
  s(
    'https://nota.example/password/reset/8c1f0e5a2b7d4c9e',
    'Reset your Nota password',
    'Someone asked for a new password for your account.\n\nReset password <https://nota.example/password/reset/8c1f0e5a2b7d4c9e>\n\nDidn’t request this? Secure your account <https://nota.example/security/8c1f0e5a2b7d4c9e99>',
  ),
  s(
    'https://auth.kestrel.example/__/auth/action?mode=verifyEmail&oobCode=K9xZ2LmQ8rT1&lang=en',
    'Verify your email for Kestrel',
    'Hello,\n\nFollow this link to verify your email address.\n\nhttps://auth.kestrel.example/__/auth/action?mode=verifyEmail&oobCode=K9xZ2LmQ8rT1&lang=en\n\nThanks',
  ),
  s(
    'https://auth.kestrel.example/__/auth/action?mode=resetPassword&oobCode=K9xZ2LmQ8rT1',
    'Reset your password for Kestrel',
    'Hello,\n\nFollow this link to reset your Kestrel password for your ada@example.com account.\n\nhttps://auth.kestrel.example/__/auth/action?mode=resetPassword&oobCode=K9xZ2LmQ8rT1\n\nIf you didn’t ask to reset your password, you can ignore this email.',
  ),
  s(
    'https://puffin.example/users/confirmation?confirmation_token=Zx81kQpW_2nM',
    'Confirmation instructions',
    'Welcome ada@example.com!\n\nYou can confirm your account email through the link below:\n\nConfirm my account <https://puffin.example/users/confirmation?confirmation_token=Zx81kQpW_2nM>',
  ),
  s(
    'https://ibis.example/activate/7d1c9f3e-0b2a-4c5d-8e6f-1a2b3c4d5e6f/',
    'Activate your account',
    'Thanks for signing up. Activate your account:\nhttps://ibis.example/activate/7d1c9f3e-0b2a-4c5d-8e6f-1a2b3c4d5e6f/',
  ),
  s(
    'https://list.stork.example/confirm/a8f5f167f44f4964e6c998dee827110c',
    'Please confirm your subscription',
    'Yes, subscribe me to this list: <https://list.stork.example/confirm/a8f5f167f44f4964e6c998dee827110c>\n\nIf you received this by mistake, simply delete it. You won’t be subscribed if you don’t click the confirmation link above.',
  ),
  s(
    'https://plover.example/l/BfT9aK2mQ7xR',
    'Log in to Plover',
    'Here is your magic link. It works once and expires in 10 minutes.\n\nLog in to Plover <https://plover.example/l/BfT9aK2mQ7xR>',
  ),
  s(
    '482913 https://plover.example/signin/verify?code=482913&t=Ab81Kq02',
    'Sign in to Plover',
    'Your sign-in code is 482913\n\nOr click to sign in: https://plover.example/signin/verify?code=482913&t=Ab81Kq02\n\nThe link expires in 10 minutes.',
  ),
  s(
    'https://reiher.example/konto/aktivieren?schluessel=3f9a1c7e5b2d8046',
    'Bitte bestätigen Sie Ihre E-Mail-Adresse',
    'Guten Tag,\n\nbitte klicken Sie auf den folgenden Link, um Ihre E-Mail-Adresse zu bestätigen:\n\nhttps://reiher.example/konto/aktivieren?schluessel=3f9a1c7e5b2d8046\n\nDatenschutz: https://reiher.example/datenschutz',
  ),
  s(
    'https://reiher.example/pw/8a7b6c5d4e3f2a1b',
    'Passwort zurücksetzen',
    'Passwort zurücksetzen <https://reiher.example/pw/8a7b6c5d4e3f2a1b>\n\nDer Link ist 60 Minuten gültig.',
  ),
  s(
    'https://alouette.example/inscription/confirmer/5e884898da28047151d0e56f',
    'Confirmez votre adresse e-mail',
    'Bonjour,\n\nCliquez ici pour confirmer votre adresse : https://alouette.example/inscription/confirmer/5e884898da28047151d0e56f\n\nÀ bientôt',
  ),
  s(
    'https://alondra.example/verificar?token=b7e23ec29af22b0b',
    'Verifica tu correo',
    'Hola Ada:\n\nVerificar mi correo <https://alondra.example/verificar?token=b7e23ec29af22b0b>\n\nSi no creaste una cuenta, ignora este mensaje.',
  ),
  s(
    'https://alondra.example/contrasena/nueva/Qw3rTy81Zx',
    'Restablece tu contraseña',
    'Para restablecer tu contraseña, abre este enlace. Caduca en 1 hora:\nhttps://alondra.example/contrasena/nueva/Qw3rTy81Zx',
  ),
  s(
    'https://cotovia.example/confirmar?chave=4b825dc642cb6eb9',
    'Confirme seu e-mail',
    'Confirmar meu e-mail <https://cotovia.example/confirmar?chave=4b825dc642cb6eb9>',
  ),
  s(
    'https://zhavoronok.example/confirm?key=9c1185a5c5e9fc54612808',
    'Подтвердите адрес почты',
    'Здравствуйте!\n\nЧтобы подтвердить адрес, перейдите по ссылке:\nhttps://zhavoronok.example/confirm?key=9c1185a5c5e9fc54612808\n\nЕсли вы не регистрировались, просто удалите письмо.',
  ),
  s(
    'https://hibari.example/signup/complete?token=d4735e3a265e16ee',
    'メールアドレスの確認',
    '下記のURLをクリックして、メールアドレスの確認を完了してください。\n\nhttps://hibari.example/signup/complete?token=d4735e3a265e16ee\n\n※URLの有効期限は24時間です。',
  ),
  s(
    'https://yunque.example/account/activate?code=4e07408562bedb8b',
    '请验证您的邮箱',
    '您好，\n\n请点击以下链接验证邮箱：\nhttps://yunque.example/account/activate?code=4e07408562bedb8b\n\n链接24小时内有效。',
  ),
  s(
    'https://jongdal.example/verify?t=ef2d127de37b942baad06145',
    '이메일 인증을 완료해 주세요',
    '아래 버튼을 눌러 이메일 인증을 완료하세요.\n\n이메일 인증하기 <https://jongdal.example/verify?t=ef2d127de37b942baad06145>',
  ),
  s(
    'https://merlin.example/new-device/approve?request=2c624232cc221cb3',
    'Approve your new device',
    'A new device is trying to use your account. Verify it’s you: https://merlin.example/new-device/approve?request=2c624232cc221cb3\nThe link expires in 5 minutes.',
  ),
  s(
    'https://wren.example/email-change/confirm/6b51d431df5d7f14',
    'Confirm your new email address',
    'You asked us to change the address of your account. Confirm your new email address within the next 24 hours:\n\nhttps://wren.example/email-change/confirm/6b51d431df5d7f14.',
  ),
]
