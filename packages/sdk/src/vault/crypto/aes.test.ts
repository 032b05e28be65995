// AES-256-GCM. Tests both engines against Project Wycheproof, the rejection of short tags, and the wiping of keys.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AesKey, type Engine } from './aes.ts'
import { encodeHex } from './bytes.ts'

type Case = { tcId: number; key: string; iv: string; aad: string; msg: string; ct: string; tag: string; result: 'valid' | 'invalid' }
const file = join(import.meta.dirname, '../../../tests/fixtures', 'wycheproof-aes-256-gcm.json')
const { tests: cases } = JSON.parse(readFileSync(file, 'utf8')) as { tests: Case[] }
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const engines: Engine[] = ['node', 'webcrypto']

test('there are 66 cases, 27 of them invalid', () => {
  expect(cases.length).toBe(66)
  expect(cases.filter(({ result }) => result === 'invalid').length).toBe(27)
})

describe.each(engines)('%s', (engine) => {
  test.each(cases.filter(({ aad }) => aad === ''))('Wycheproof $tcId is $result', async ({ key, iv, msg, ct, tag, result }) => {
    const aes = new AesKey(bytes(key), engine)
    const opened = await aes.open(bytes(iv), bytes(ct + tag))
    if (result === 'invalid') return expect(opened).toBeNull()
    expect(encodeHex(opened!)).toBe(msg)
    expect(encodeHex(await aes.seal(bytes(iv), bytes(msg)))).toBe(ct + tag)
  })

  // The format does not use additional data, so ciphertext sealed with some must not open.
  test.each(cases.filter(({ aad }) => aad !== ''))('Wycheproof $tcId, with additional data, is refused', async ({ key, iv, ct, tag }) => {
    expect(await new AesKey(bytes(key), engine).open(bytes(iv), bytes(ct + tag))).toBeNull()
  })

  test('a tag cut short is refused at every length', async () => {
    const aes = new AesKey(new Uint8Array(32), engine)
    const iv = new Uint8Array(12)
    const sealed = await aes.seal(iv, new Uint8Array(0))
    expect(sealed.length).toBe(16)
    for (let length = 0; length < 16; length++) expect(await aes.open(iv, sealed.slice(0, length))).toBeNull()
    expect(await aes.open(iv, sealed)).toEqual(new Uint8Array(0))
  })

  test('a wiped key is zeroed and cannot be used', async () => {
    const raw = new Uint8Array(32).fill(7)
    const aes = new AesKey(raw, engine)
    const sealed = await aes.seal(new Uint8Array(12), new Uint8Array(3))
    aes.wipe()
    expect(raw).toEqual(new Uint8Array(32))
    await expect(aes.open(new Uint8Array(12), sealed)).rejects.toMatchObject({ code: 'vault_locked' })
    await expect(aes.seal(new Uint8Array(12), new Uint8Array(3))).rejects.toMatchObject({ code: 'vault_locked' })
  })
})

test('the engines below agree with Wycheproof with additional data, too', async () => {
  for (const { key, iv, aad, msg, ct, tag, result } of cases) {
    const web = await crypto.subtle.importKey('raw', bytes(key), 'AES-GCM', false, ['decrypt'])
    const byWeb = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytes(iv), additionalData: bytes(aad) }, web, bytes(ct + tag)).then(
      (plain) => encodeHex(new Uint8Array(plain)),
      () => null,
    )
    expect(byWeb).toBe(result === 'valid' ? msg : null)
    const decipher = createDecipheriv('aes-256-gcm', bytes(key), bytes(iv), { authTagLength: 16 }).setAAD(bytes(aad)).setAuthTag(bytes(tag))
    let byNode: string | null = null
    try {
      byNode = decipher.update(bytes(ct)).toString('hex') + decipher.final('hex')
    } catch {}
    expect(byNode).toBe(result === 'valid' ? msg : null)
  }
})

test('the engines read each other', async () => {
  const [node, web] = engines.map((engine) => new AesKey(new Uint8Array(32).fill(9), engine)) as [AesKey, AesKey]
  const iv = new Uint8Array(12).fill(1)
  const text = new Uint8Array(1000).fill(65)
  expect(await web.open(iv, await node.seal(iv, text))).toEqual(text)
  expect(await node.open(iv, await web.seal(iv, text))).toEqual(text)
  const cipher = createCipheriv('aes-256-gcm', new Uint8Array(32).fill(9), iv, { authTagLength: 16 })
  const whole = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  expect(Buffer.from(await web.seal(iv, text))).toEqual(whole)
})
