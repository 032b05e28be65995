// Fuzzes reading and checking a message: any bytes give storable strings and true ranges, in bounded time, and never an exception.
import { readMail } from '../../packages/server/src/features/inbound-mail/model.ts'
import { checkSender } from '../../packages/server/src/features/inbound-mail/sender-checks.ts'
import { hasBeenDelivered, withoutForeignResults } from '../../packages/server/src/features/inbound-mail/trace-fields.ts'
import { decodeAttachment } from '../../packages/server/src/features/inbound-mail/transfer-encoding.ts'
import { createZoneResolver } from '../../packages/server/tests/stage/zone-resolver.ts'
import type { Chance } from './inputs.ts'

export const mailWords = [
  ...[
    'From: a@b.example\r\n',
    'To: ',
    'Cc: ',
    'Subject: ',
    'References: <a@b> ',
    'Date: Sun, 22 Nov 2026 03:00:00 +0000\r\n',
    'Received: from a\r\n',
  ],
  ...[
    'Content-Type: multipart/mixed; boundary=b\r\n',
    'Content-Type: multipart/alternative; boundary="c"\r\n',
    'Content-Type: message/rfc822\r\n',
  ],
  ...[
    'Content-Type: text/html; charset=utf-7\r\n',
    'Content-Type: text/plain; format=flowed; delsp=yes\r\n',
    'Content-Type: text/plain; charset=iso-2022-jp\r\n',
  ],
  ...[
    'Content-Transfer-Encoding: base64\r\n',
    'Content-Transfer-Encoding: quoted-printable\r\n',
    'Content-Disposition: attachment; filename*0*=',
    "filename*=utf-8''%e4",
  ],
  ...[
    '--b\r\n',
    '--b--\r\n',
    '--c\r\n',
    '--c--\r\n',
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    '=?utf-8?B?',
    '=?utf-16?Q?=D8=00',
    '?=',
    '<',
    '>',
    '"',
    '(',
    ')',
    '\\',
  ],
  ...[
    ';',
    ',',
    ':',
    '=00',
    '=D8',
    '=\r\n',
    'AA==',
    '\0',
    '\xff',
    '\xed\xa0\x80',
    '<p>',
    '&#xD800;',
    '<b hidden>',
    '<style>',
    '<!--',
    '+2AA-',
    '> ',
    'On x wrote:\r\n',
    '-- \r\n',
  ],
  ...[
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=b.example; s=s1; h=from:to; bh=',
    'b=',
    '; l=1',
    '; x=1',
    'ARC-Seal: i=1; cv=none; ',
    'ARC-Message-Signature: i=1; ',
  ],
  ...[
    'ARC-Authentication-Results: i=1; x; spf=pass\r\n',
    'Authentication-Results: mx.example; spf=pass\r\n',
    'Delivered-To: a@b.example\r\n',
    'From: Group: a@b, c@d;\r\n',
  ],
]

const records = [
  'v=spf1 ip4:192.0.2.0/24 -all',
  'v=spf1 include:b.example a mx exists:%{ir}.b.example ?all',
  'v=DMARC1; p=reject; sp=none; np=quarantine',
  'v=DKIM1; p=AAAA',
  'v=spf1 redirect=%{d}',
  '',
]
const processorMsMax = 500

/** One run; throws when something is not as it must be. Gives what the input showed, in a word. */
export async function fuzzMail(raw: Buffer, chance: Chance): Promise<string> {
  const before = process.threadCpuUsage()
  const { parsed, extractedText } = readMail(raw)
  visitStrings({ ...parsed, extractedText })
  for (const { start, end, encoding, sizeBytes } of parsed.attachments) {
    if (start > end || end > raw.length) throw new Error(`an attachment from ${start} to ${end} of ${raw.length}`)
    if (decodeAttachment(raw.subarray(start, end), encoding).length !== sizeBytes) throw new Error('an attachment of another size')
  }
  const cleaned = withoutForeignResults(raw, 'mx.example')
  if (withoutForeignResults(cleaned, 'mx.example').length !== cleaned.length) throw new Error('foreign results are left')
  hasBeenDelivered(raw, ['a@b.example'])

  const text = chance.pick(records)
  const zone =
    chance.below(5) === 0 ? ('trouble' as const) : { TXT: [text], A: ['192.0.2.7'], MX: [{ preference: 1, exchange: 'b.example' }] }
  const resolver = createZoneResolver({ 'b.example': zone, '_dmarc.b.example': zone, 's1._domainkey.b.example': zone })
  const { spf, dkim, dmarc, arc } = await checkSender(
    {
      envelopeFrom: chance.below(3) === 0 ? '' : raw.toString('latin1', 0, chance.below(60)),
      client: { address: '192.0.2.7', name: 'b.example' },
      raw,
    },
    { resolver, hostname: 'mx.example' },
  )
  visitStrings({ spf, dkim, dmarc, arc })
  const spent = process.threadCpuUsage(before)
  const ms = (spent.user + spent.system) / 1000
  if (ms > processorMsMax) throw new Error(`took ${Math.round(ms)} ms of processor time`)
  const bucket = (count: number) => Math.ceil(Math.log2(count + 1))
  return [
    [...parsed.defects].sort().join('+'),
    bucket(parsed.attachments.length),
    parsed.text === null ? 'none' : bucket(parsed.text.length),
    parsed.html === null ? 'none' : bucket(parsed.html.length),
    bucket(parsed.to.length + parsed.cc.length),
    `${spf?.result} ${dkim?.result} ${dkim?.signatures[0]?.reason} ${dmarc?.result} ${arc?.result} ${arc?.reason?.slice(0, 30)}`,
  ].join('/')
}

function visitStrings(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw new Error(`not storable: ${JSON.stringify(value.slice(0, 100))}`)
  } else if (Array.isArray(value)) value.forEach(visitStrings)
  else if (value !== null && typeof value === 'object' && !(value instanceof Date)) Object.values(value).forEach(visitStrings)
}
