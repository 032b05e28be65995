// The author that a reader sees is the one that DMARC has judged.
import { expect, test } from 'vitest'
import { parseMessage } from '../../mime/parse.ts'
import { uncheckedVerdicts, type Verdicts } from '../sender-checks.ts'
import { authorOf } from './author.ts'

const unchecked = uncheckedVerdicts('', { address: '192.0.2.7', name: 'mail.example' })
const judged = (
  result: NonNullable<Verdicts['dmarc']>['result'],
  domain: string | null,
  source: Verdicts['source'] = 'smtp',
): Verdicts => ({
  ...unchecked,
  source,
  dmarc: { ...(unchecked.dmarc as NonNullable<Verdicts['dmarc']>), result, domain },
})
const read = (from: string, verdicts: Verdicts) => authorOf(parseMessage(Buffer.from(`From: ${from}\r\n\r\n`)), verdicts)?.address ?? null

test.each<[name: string, from: string, verdicts: Verdicts, author: string | null]>([
  ['the mailbox in From', 'Ada <ada@shop.example>', judged('fail', 'shop.example'), 'ada@shop.example'],
  ['the same mailbox twice', 'ada@shop.example, Ada <ADA@shop.example>', judged('pass', 'shop.example'), 'ada@shop.example'],
  ['a domain in its own script', 'Ada <ada@bücher.example>', judged('pass', 'xn--bcher-kva.example'), 'ada@bücher.example'],
  ['a name without an address', 'Ada', judged('permerror', null), null],
  ['two mailboxes', 'ada@shop.example, bob@shop.example', judged('pass', 'shop.example'), null],
  ['two mailboxes of hosted mail', 'ada@shop.example, bob@shop.example', judged('pass', 'shop.example', 'hosted'), null],
  ['one mailbox where the checks found none', 'ada@shop.example', judged('permerror', 'shop.example'), null],
  ['one mailbox where the checks found none, without a domain', 'ada@shop.example', judged('permerror', null), null],
  ['another domain than the judged one', 'ada@shop.example', judged('pass', 'bank.example'), null],
  ['an address without a domain where one was judged', 'ada@', judged('pass', 'bank.example'), null],
  ['an address whose domain no name can hold', 'ada@shop..example', judged('pass', 'bank.example'), null],
  ['mail that DMARC did not judge', 'ada@shop.example', judged('temperror', null), 'ada@shop.example'],
  ['mail without a verdict of DMARC', 'ada@shop.example', { ...unchecked, dmarc: null }, 'ada@shop.example'],
  ['mail of a hosted mailbox', 'ada@shop.example', judged('pass', 'bank.example', 'hosted'), 'ada@shop.example'],
])('%s', (_name, from, verdicts, author) => expect(read(from, verdicts)).toBe(author))
