// Signatures: their form, coverage and determinism. An independent verifier checks every kind of message.
import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyDkim } from '../../../tests/harness/dkim-verifier.ts'
import { composeMessage } from '../../compose/compose.ts'
import type { MessageDraft } from '../../compose/message-draft.ts'
import { relaxedField, splitMessage } from './canonical-form.ts'
import { generateKeyPairFor } from './key-pair.ts'
import { recordOf } from './key-publication.ts'
import { type SigningKey, signMessage } from './signing.ts'
import { quotedTxt } from './zone-text.ts'

const at = new Date('2026-03-01T12:00:00Z')
const records: Record<string, string> = {}
let keys: SigningKey[]
beforeAll(async () => {
  keys = await Promise.all(
    (['rsa-sha256', 'ed25519-sha256'] as const).map(async (algorithm) => {
      const pair = await generateKeyPairFor(algorithm)
      const selector = algorithm.slice(0, 3)
      const record = recordOf({ domain: 'agents.test', selector, algorithm, public_key: pair.publicKey })
      records[record.name] = record.value
      return { domain: 'agents.test', selector, algorithm, privateKey: createPrivateKey(pair.privatePem) }
    }),
  )
})

const plain = Buffer.from(
  'From: Ann <ann@agents.test>\r\nTo: x@example.com\r\nSubject: Hi\r\nDate: Sun, 1 Mar 2026 12:00:00 +0000\r\n\r\nHello\r\n',
)
const signaturesOf = (raw: Buffer) => splitMessage(raw).fields.filter((field) => field.key === 'dkim-signature')
const tagsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    relaxedField({ key: 'x', text })
      .slice(2)
      .split(';')
      .map((tag) => {
        const [name = '', value = ''] = tag.trim().split(/=(.*)/s)
        return [name, value.replaceAll(' ', '')]
      }),
  )

test('one signature a key on top, the message itself untouched', async () => {
  const signed = await signMessage(plain, keys, at)
  expect(signed.subarray(signed.length - plain.length).equals(plain)).toBe(true)
  const all = signaturesOf(signed)
  expect(all).toHaveLength(2)
  expect(splitMessage(signed).fields.slice(0, 2)).toEqual(all)
  expect(
    signed
      .toString()
      .split('\r\n')
      .every((line) => line.length <= 78),
  ).toBe(true)
  const bodyHash = createHash('sha256').update('Hello\r\n').digest('base64')
  expect(tagsOf(all[0]!.text)).toMatchObject({
    v: '1',
    a: 'rsa-sha256',
    c: 'relaxed/relaxed',
    d: 'agents.test',
    s: 'rsa',
    t: '1772366400',
    bh: bodyHash,
  })
  expect(tagsOf(all[1]!.text)).toMatchObject({ a: 'ed25519-sha256', s: 'ed2', bh: bodyHash })
})

test('the whole body is signed, without l=, z= or x=', async () => {
  for (const { text } of signaturesOf(await signMessage(plain, keys, at)))
    expect(Object.keys(tagsOf(text)).toSorted()).toEqual(['a', 'b', 'bh', 'c', 'd', 'h', 's', 't', 'v'])
})

test('the same message, keys and time give the same bytes; without keys nothing is added', async () => {
  expect((await signMessage(plain, keys, at)).equals(await signMessage(plain, keys, at))).toBe(true)
  expect(await signMessage(plain, [], at)).toBe(plain)
})

test('h= names From and the other fields once more than they occur, so that none can be added', async () => {
  const [signature] = signaturesOf(await signMessage(plain, keys, at))
  const names = (tagsOf(signature!.text).h as string).toLowerCase().split(':')
  const count = (name: string) => names.filter((one) => one === name).length
  expect([count('from'), count('subject'), count('to'), count('date')]).toEqual([2, 2, 2, 2])
  expect([count('reply-to'), count('cc'), count('message-id'), count('content-type'), count('mime-version')]).toEqual([1, 1, 1, 1, 1])
  expect([count('received'), count('return-path'), count('dkim-signature')]).toEqual([0, 0, 0])
})

test('h= names fields of mailing lists as often as they occur, and only these', async () => {
  const more = 'List-Unsubscribe: <https://agents.test/u>\r\nList-Id: <a.test>\r\nSender: a@agents.test\r\nSender: b@agents.test\r\n'
  const [signature] = signaturesOf(await signMessage(Buffer.concat([Buffer.from(more), plain]), keys, at))
  const names = (tagsOf(signature!.text).h as string).split(':')
  expect(names.filter((name) => /^(?:List|Sender)/.test(name))).toEqual(['Sender', 'Sender', 'List-Id', 'List-Unsubscribe'])
  expect(names.filter((name) => /^(?:Message|MIME)/.test(name))).toEqual(['Message-ID', 'MIME-Version'])
})

test('the field is folded at tags and at names, within 76 characters, and its signature in lines of 70', async () => {
  const [signature] = signaturesOf(await signMessage(plain, keys.slice(0, 1), at))
  const lines = (signature!.text.slice(0, signature!.text.indexOf(' b=')) as string).split('\r\n')
  expect(lines).toEqual([
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=agents.test; s=rsa;',
    ' t=1772366400; h=From:From:Reply-To:To:To:Cc:Subject:Subject:Date:Date:',
    ' Message-ID:In-Reply-To:References:MIME-Version:Content-Type:',
    ' Content-Transfer-Encoding; bh=Ba3gj8+xBPQLJTahTfzW6RbWQ/XPgESxkCi2B66PSQg=;',
    '',
  ])
  const value = signature!.text.slice(signature!.text.indexOf(' b=') + 3).split('\r\n ')
  expect(value.map((line) => line.length)).toEqual([70, 70, 70, 70, 64])
})

test('the record names the key in the form of its algorithm, and is quoted in strings of at most 255 octets', () => {
  expect(records['rsa._domainkey.agents.test']).toMatch(/^v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A[A-Za-z0-9+/]+IDAQAB$/)
  expect(records['ed2._domainkey.agents.test']).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/)
  const quoted = quotedTxt(records['rsa._domainkey.agents.test'] as string)
  const strings = [...quoted.matchAll(/"([^"]*)"/g)].map((match) => match[1] as string)
  expect(strings.length).toBe(2)
  expect(strings.every((one) => one.length <= 255)).toBe(true)
  expect(strings.join('')).toBe(records['rsa._domainkey.agents.test'])
})

test('the Ed25519 key of RFC 8463 appendix A signs as its record says', async () => {
  // The seed and the public key as they stand in the RFC.
  const seed = Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64')
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const key: SigningKey = { domain: 'football.example.com', selector: 'brisbane', algorithm: 'ed25519-sha256', privateKey }
  const raw = Buffer.from(
    'From: Joe SixPack <joe@football.example.com>\r\nTo: Suzie Q <suzie@shopping.example.net>\r\nSubject: Is dinner ready?\r\n' +
      'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\nMessage-ID: <20030712040037.46341.5F8J@football.example.com>\r\n\r\n' +
      'Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n',
  )
  const signed = await signMessage(raw, [key], new Date(1_528_637_909_000))
  expect(tagsOf(signaturesOf(signed)[0]!.text).bh).toBe('2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=')
  const record = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
  expect(await verifyDkim([signed], { 'brisbane._domainkey.football.example.com': record })).toEqual([['pass']])
})

describe('other implementations verify every kind of message', () => {
  const draft = (more: Partial<MessageDraft>): Promise<Buffer> =>
    composeMessage({
      from: { name: 'Ann', address: 'ann@agents.test' },
      to: [{ name: '', address: 'x@example.com' }],
      cc: [],
      replyTo: [],
      subject: 'Hello',
      text: 'Hello there',
      html: '',
      messageId: '<1@agents.test>',
      inReplyTo: null,
      references: [],
      date: at,
      headers: {},
      autoSubmitted: null,
      attachments: [],
      boundarySeed: 'seed',
      ...more,
    })
  const file = (bytes: Buffer, contentType = 'application/octet-stream') => ({ filename: 'a.bin', contentType, contentId: null, bytes })
  const raw = (header: string, body: string | Buffer) =>
    Buffer.concat([Buffer.from(`${header}\r\n\r\n`, 'latin1'), Buffer.from(body as string, 'latin1')])
  const head = 'From: ann@agents.test\r\nTo: x@example.com\r\nSubject: s'

  const samples: Record<string, () => Promise<Buffer> | Buffer> = {
    'plain text': () => draft({}),
    'utf-8 everywhere': () =>
      draft({
        from: { name: 'Änne Ødegård', address: 'ann@agents.test' },
        subject: 'Grüße — 你好 🎉',
        text: 'Zażółć gęślą jaźń 你好 🎉',
        html: '<p>🎉</p>',
      }),
    'text and html': () => draft({ html: '<p>Hello <b>there</b></p>' }),
    'a binary attachment': () => draft({ attachments: [file(Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256)))] }),
    'many attachments and an inline image': () =>
      draft({
        html: '<img src="cid:pic">',
        attachments: [
          { filename: 'p.png', contentType: 'image/png', contentId: 'pic', bytes: Buffer.alloc(100, 7) },
          file(Buffer.from('text\r\nlines\n'), 'text/plain'),
          file(Buffer.alloc(0)),
        ],
      }),
    'a message attached': () => draft({ attachments: [file(plain, 'message/rfc822')] }),
    'long lines': () => draft({ text: `${'word '.repeat(1000)}\n${'x'.repeat(5000)}` }),
    'lines of dots': () => draft({ text: '.\n..\n.hidden\n...\n' }),
    'an empty body': () => draft({ text: '' }),
    'empty lines at the end': () => draft({ text: 'a\n\n\n\n' }),
    'white space at line ends and in between': () => draft({ text: ' a  b\t\tc \n \n\t\nend \t' }),
    'custom headers, folded and encoded': () =>
      draft({
        headers: {
          'X-Long': 'word '.repeat(60).trim(),
          'X-Utf8': 'Grüße',
          'List-Unsubscribe': '<https://example.com/u>',
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        },
      }),
    'an answer with a long chain of references': () =>
      draft({ inReplyTo: '<9@example.com>', references: Array.from({ length: 60 }, (_, i) => `<${'r'.repeat(60)}${i}@example.com>`) }),
    'no To, and Reply-To': () => draft({ to: [], replyTo: [{ name: 'SimulatorState', address: 'desk@agents.test' }] }),
    '8-bit octets in the body': () =>
      raw(`${head}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit`, Buffer.from('Grüße\r\n\xff\r\n')),
    '8-bit octets in the header': () => raw('From: ann@agents.test\r\nSubject: Gr\xc3\xbc\xc3\x9fe', 'x\r\n'),
    'a body without a last line end': () => raw(head, 'no end'),
    'a body of nothing but line ends': () => raw(head, '\r\n\r\n\r\n'),
    'no body at all': () => Buffer.from(`${head}\r\n\r\n`),
    'a field that occurs three times': () => raw(`${head}\r\nTo: a@example.com\r\nTo: b@example.com`, 'x\r\n'),
    'tabs, folds and empty values in fields': () => raw('From:\tann@agents.test\r\nSubject:\r\n \tfolded\r\n\t twice \r\nCc:', 'x\r\n'),
  }

  test('RSA and Ed25519 both pass on each', async () => {
    const names = Object.keys(samples)
    const signed = await Promise.all(names.map(async (one) => signMessage(await (samples[one] as () => Promise<Buffer>)(), keys, at)))
    const verdicts = await verifyDkim(signed, records)
    expect(Object.fromEntries(names.map((one, index) => [one, verdicts[index]]))).toEqual(
      Object.fromEntries(names.map((one) => [one, ['pass', 'pass']])),
    )
  })

  test('a later change or addition fails', async () => {
    const signed = (await signMessage(plain, keys, at)).toString('latin1')
    const changes = {
      'the subject': signed.replace('Subject: Hi', 'Subject: Ho'),
      'the body': signed.replace('Hello', 'Hallo'),
      'more body': `${signed}more\r\n`,
      'a second From': signed.replace('From: Ann', 'From: evil@example.com\r\nFrom: Ann'),
      'a From at the end': signed.replace('\r\n\r\nHello', '\r\nFrom: evil@example.com\r\n\r\nHello'),
      'a Reply-To': signed.replace('From: Ann', 'Reply-To: evil@example.com\r\nFrom: Ann'),
      'a Content-Type': signed.replace('From: Ann', 'Content-Type: text/html\r\nFrom: Ann'),
    }
    const verdicts = await verifyDkim(
      Object.values(changes).map((text) => Buffer.from(text, 'latin1')),
      records,
    )
    for (const [index, what] of Object.keys(changes).entries()) expect([what, verdicts[index]?.includes('pass')]).toEqual([what, false])
  })

  test('another key of the same name fails', async () => {
    const stranger = generateKeyPairSync('ed25519').privateKey
    const signed = await signMessage(plain, [{ ...(keys[1] as SigningKey), privateKey: stranger }], at)
    expect(await verifyDkim([signed], records)).toEqual([['fail']])
  })
})
