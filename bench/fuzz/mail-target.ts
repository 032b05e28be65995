// Fuzzes every reader of a message. Any bytes give storable strings and true ranges, and never an exception.
import { hasBeenDelivered, withoutForeignResults } from '../../packages/mail/src/authentication/trace-fields.ts'
import { readMail } from '../../packages/mail/src/content/reading.ts'
import { decodeAttachment } from '../../packages/mail/src/mime/transfer-encoding.ts'
import { readReport } from '../../packages/mail/src/reports/report.ts'
import { checkStorable } from './storable.ts'

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

const bucket = (count: number) => Math.ceil(Math.log2(count + 1))

/** Runs once and throws when a check fails. Returns a word that describes the input. */
export function fuzzMail(raw: Buffer): string {
  const { parsed, extractedText, codes, indicators } = readMail(raw)
  checkStorable({ ...parsed, extractedText, codes, indicators })
  for (const { start, end, encoding, sizeBytes } of parsed.attachments) {
    if (start > end || end > raw.length) throw new Error(`an attachment from ${start} to ${end} of ${raw.length}`)
    if (decodeAttachment(raw.subarray(start, end), encoding).length !== sizeBytes) throw new Error('an attachment of another size')
  }
  const cleaned = withoutForeignResults(raw, 'mx.example')
  if (withoutForeignResults(cleaned, 'mx.example').length !== cleaned.length) throw new Error('foreign results are left')
  hasBeenDelivered(raw, ['a@b.example'], 'mx.example')
  // Its strings are cleaned where they are stored.
  readReport(raw, '', 'a@b.example')
  return [
    [...parsed.defects].sort().join('+'),
    bucket(parsed.attachments.length),
    parsed.text === null ? 'none' : bucket(parsed.text.length),
    parsed.html === null ? 'none' : bucket(parsed.html.length),
    bucket(parsed.to.length + parsed.cc.length),
    codes.map((code) => code.kind).join('+'),
  ].join('/')
}
