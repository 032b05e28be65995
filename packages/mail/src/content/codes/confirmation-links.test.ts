// Links that confirm something once, by their label, path and token. Each line of a table differs from its neighbour in one thing.
import { describe, expect, test } from 'vitest'
import { findConfirmationLinks } from './confirmation-links.ts'

const token = '9f8a7c6b5d4e3f2a1b0c'
const valuesIn = (text: string, subject = ''): string[] => findConfirmationLinks(subject, text).map(({ value }) => value)
/** The link found behind a label that asks for a confirmation, or null. */
const found = (link: string, label = 'Verify your email address:'): string | null => valuesIn(`${label} ${link}`)[0] ?? null

describe('the end of a link', () => {
  const link = `https://a.example/verify?token=${token}`
  test.each([
    [`${link}.`, link],
    [`${link},`, link],
    [`${link}!?`, link],
    [`(${link})`, link],
    [`[${link}]`, link],
    [`"${link}"`, link],
    [`*${link}*`, link],
    [`${link}(x)`, `${link}(x)`],
    [`${link}[x]`, `${link}[x]`],
    [`<${link}.>`, `${link}.`],
    [`<${link}.`, link],
    [`${link}.>`, link],
    [`${link}）`, link],
    [`${link}。`, link],
  ])('%s', (written, value) => expect(found(written)).toBe(value))

  test('a link has at most 2,048 characters', () => {
    const of = (length: number) => `https://a.example/verify?token=${'9f'.repeat(1100)}`.slice(0, length)
    expect(found(of(2048))).toBe(of(2048))
    expect(found(of(2049))).toBeNull()
  })

  test.each([
    `https://u@a.example/verify?token=${token}`,
    `https://u:p@a.example/verify?token=${token}`,
    `https://a.example/ver\u200bify?token=${token}`,
  ])('%j is none', (written) => expect(found(written)).toBeNull())
})

describe('secrets', () => {
  test.each(['token', 'code', 'otp', 'key', 'oobCode', 'hash', 'signature', 'sig', 't', 'c'])('%s is a name of a secret', (name) => {
    expect(found(`https://a.example/verify?${name}=abcdef`)).not.toBeNull()
    expect(found(`https://a.example/verify?${name}=abcde`)).toBeNull()
    expect(found(`https://a.example/verify?x${name}=abcdef`)).toBeNull()
  })

  test.each<[part: string, isSecret: boolean]>([
    ['9f8a7c6b', true],
    ['9f8a7c6', false],
    ['abcdefgh', false],
    ['12345678', false],
    ['release2024', false],
    ['release-24', false],
    ['versionv12', false],
    ['2024-abcdef', false],
    ['abc-12345', false],
    ['AbC12345', true],
    ['9f8a7c6b5d4e3f2a', true],
    ['1234567890123456', false],
    ['the-first-of-many-2', false],
    ['the-first-of-manyX2', true],
    ['AbCdEfGhIjKlMnOp', true],
    ['abcdefghijklmnop', false],
    ['ABCDEFGHIJKLMNOP', false],
    ['AbCdEfGh-IjKlMnOp', false],
    ['AbCdEfGh_IjKlMnOp', false],
    ['9f8a7c6b5d4e3f2a.html', false],
    ['9f8a7c6b5d4e3f2a.PDF', false],
    ['9f8a7c6b.htmlx5d4e3f2a', true],
  ])('%s: %s', (part, isSecret) => {
    expect(found(`https://a.example/verify/${part}`) !== null).toBe(isSecret)
    expect(found(`https://a.example/verify?x=${part}`) !== null).toBe(isSecret)
    expect(found(`https://a.example/verify#/x/${part}`) !== null).toBe(isSecret)
  })

  test('values that count visits are not secrets', () => {
    expect(found(`https://a.example/verify?utm_campaign=${token}`)).toBeNull()
    expect(found(`https://a.example/verify?campaign_utm_=${token}`)).not.toBeNull()
  })
})

describe('paths', () => {
  const of = (path: string, label = 'Open this page:') =>
    valuesIn(`${label} https://a.example/${path}\n\nIt expires in an hour.`).length === 1
  test.each<[path: string, isFound: boolean]>([
    [`verify/${token}`, true],
    [`verify-email/${token}`, true],
    [`email/confirm/${token}`, true],
    [`activate?x=${token}`, true],
    [`x?mode=verifyEmail&x=${token}`, true],
    [`x?action=verifyEmail&x=${token}`, true],
    [`x?type=verifyEmail&x=${token}`, true],
    [`x?flow=verifyEmail&x=${token}`, true],
    [`x?op=verifyEmail&x=${token}`, true],
    [`x?other=verifyEmail&x=${token}`, false],
    [`x#verify=${token}`, true],
    [`password/reset/${token}`, true],
    [`resetPassword/${token}`, true],
    [`forgot/${token}`, true],
    [`magic/${token}`, true],
    [`session/${token}`, true],
    [`welcome/${token}`, false],
    [`verify/unsubscribe/${token}`, false],
    [`verify/help/${token}`, false],
    [`verify/orders/${token}`, false],
    [`verify/order-status/${token}`, false],
    [`verify/${token}/logo.png`, false],
    [`verify/${token}/style.css`, false],
  ])('%s: %s', (path, isFound) => expect(of(path)).toBe(isFound))
})

describe('labels', () => {
  const link = `https://a.example/l/${token}`
  test.each<[label: string, purpose: string | null]>([
    ['Verify your email address:', 'verify'],
    ['Confirm your account', 'verify'],
    ['Bestätigen Sie Ihre E-Mail-Adresse', 'verify'],
    ['E-Mail bestätigen', 'verify'],
    ['Подтвердить адрес', 'verify'],
    ['メールアドレスの確認', 'verify'],
    ['Reset your password:', 'password_reset'],
    ['Set a new password', 'password_reset'],
    ['Passwort zurücksetzen', 'password_reset'],
    ['Sign in with this one-time link:', 'sign_in'],
    ['Log in by this magic link:', 'sign_in'],
    ['Sign in to verify your email address:', 'sign_in'],
    ['Sign in to Plover:', null],
    ['Read the news:', null],
    [`Verify your email address. ${'We thank you for it. '.repeat(8)}:`, null],
    ['Verify your email address. Did not request this?', null],
    ['Unsubscribe here', null],
    ['View this mail in your browser', null],
    ['Your invoice', null],
  ])('%s: %s', (label, purpose) => {
    const [code] = findConfirmationLinks('', `${label} ${link}\n\nThis link expires in an hour.`)
    expect(code?.purpose ?? null).toBe(purpose)
  })

  test('the words around a link: before it, on the lines above, or behind it', () => {
    const nearIn = (text: string) => findConfirmationLinks('Verify your email', text)[0]?.near
    const own = `https://a.example/verify?token=${token}`
    expect(nearIn(`Hello,\n\nplease confirm it:\n\n${own}`)).toBe('Hello, please confirm it:')
    expect(nearIn(`One\nTwo\nThree\n${own}`)).toBe('Two Three')
    expect(nearIn(`Hello there\nConfirm <${own}>`)).toBe('Hello there Confirm')
    expect(nearIn(`Hello there\nPlease confirm your own new address <${own}>`)).toBe('Please confirm your own new address')
    expect(nearIn(`Hello there\nYes <${own}>`)).toBe('Yes')
    expect(nearIn(`Hello there\n${'Confirm '.repeat(4).slice(0, 29)} <${own}>`)).toMatch(/^Hello there Confirm/)
    expect(nearIn(`Hello there\n${'Confirm '.repeat(4).slice(0, 30)} <${own}>`)).toMatch(/^Confirm/)
    expect(nearIn(`${own}\nconfirms your address`)).toBe('confirms your address')
    expect(nearIn(`${own} -- \nconfirms your address`)).toBe('confirms your address')
    expect(nearIn(`${'word '.repeat(60)}: ${own}`)).toHaveLength(160)
  })

  test('the likeliest link is first, and each link is there once', () => {
    const [verify, page] = [`https://a.example/verify?token=${token}`, `https://a.example/l/${token}`]
    expect(valuesIn(`Confirm your account: ${page}\n\nVerify your email address: ${verify}\n\nIt expires soon.`)).toEqual([verify, page])
    expect(valuesIn(`Verify your email address: ${verify}\n\nor ${verify}`)).toEqual([verify])
    expect(findConfirmationLinks('', `Verify your email address: ${verify}`)).toEqual([
      { kind: 'confirmation_link', value: verify, purpose: 'verify', near: 'Verify your email address:', domain: 'a.example' },
    ])
  })

  test('the subject may say what the link is for', () => {
    const purposeIn = (subject: string) => findConfirmationLinks(subject, `Sign in to Plover: ${link}\n\nIt expires soon.`)[0]?.purpose
    expect([purposeIn('Hello'), purposeIn('Sign in to Plover'), purposeIn('Your magic link')]).toEqual([undefined, 'sign_in', 'sign_in'])
  })

  test('without words, the path and its token decide', () => {
    const of = (path: string) => valuesIn(`Open this page: https://a.example/${path}/${token}`).length === 1
    expect(of('verify')).toBe(true)
    expect(of('one/two/three/verify')).toBe(true)
    expect(of('one/two/three/four/verify')).toBe(false)
    expect(of('one/two/three/four/confirm')).toBe(true)
    expect(of('recover')).toBe(true)
    expect(of('forgot')).toBe(false)
    expect(of('accountConfirm')).toBe(true)
    expect(of('accountconfirm')).toBe(false)
    expect(findConfirmationLinks('', `Open this page: https://a.example/recover/${token}`)[0]?.purpose).toBe('password_reset')
    expect(valuesIn(`Open this page: https://a.example/one/two/three/four/verify/${token}`, 'Verify your email address')).toHaveLength(1)
    expect(valuesIn(`Open this page: https://a.example/recover/${token.slice(0, 19)}`)).toEqual([])
    expect(valuesIn(`Verify your email address: https://a.example/one/two/three/four/verify/${token}`)).toHaveLength(1)
  })

  test('a path of passwords needs a word about its time or purpose', () => {
    const [path, label] = [`https://a.example/password/reset/${token}`, `https://a.example/l/${token}`]
    expect(valuesIn(`Open this page: ${path}`)).toEqual([])
    expect(valuesIn(`Open this page: ${path}`, 'Reset your password')).toEqual([path])
    expect(valuesIn(`Reset your password: ${label}\n\nReset your password: ${path}`)).toEqual([path, label])
  })

  test('60 links are read', () => {
    const others = (count: number) => 'https://a.example/ '.repeat(count)
    expect(valuesIn(`${others(59)}\nVerify your email: https://a.example/verify?token=${token}`)).toHaveLength(1)
    expect(valuesIn(`${others(60)}\nVerify your email: https://a.example/verify?token=${token}`)).toHaveLength(0)
  })
})
