// Messages built to exhaust a parser, at full or smaller size.

const from = 'From: a@b.example\r\n'
const mixed = `${from}Content-Type: multipart/mixed; boundary="bound"\r\n\r\n`
const times = (unit: string, count: number): string => unit.repeat(Math.max(1, Math.round(count)))
const nested = (count: number): string =>
  Array.from(
    { length: Math.max(1, Math.round(count)) },
    (_, depth) => `--b${depth}\r\nContent-Type: multipart/mixed; boundary="b${depth + 1}"\r\n\r\n`,
  ).join('')
const signature = 'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/simple; d=b.example; s=s1; h=from; bh=AAAA; b=AAAA\r\n'

/** The messages by name. `scale` 1 is the full size, and a smaller value is a part of it. */
export const bombs: Record<string, (scale: number) => string> = {
  'nested multiparts': (scale) => `${from}Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(20_000 * scale)}`,
  'sibling parts': (scale) => mixed + times('--bound\r\n\r\n', 100_000 * scale),
  'empty parts': (scale) => mixed + times('--bound\r\n', 1_000_000 * scale),
  'enclosed messages': (scale) => from + times('Content-Type: message/rfc822\r\n\r\n', 2_000 * scale),
  'one long header': (scale) => `${from}X: ${times('y', 5_000_000 * scale)}\r\n\r\n`,
  'header lines': (scale) => `${from}${times('X: y\r\n', 200_000 * scale)}\r\n`,
  'many addresses': (scale) => `${from}Cc: ${times('ab@cd.example, ', 50_000 * scale)}\r\n\r\n`,
  'many groups': (scale) => `${from}Cc: ${times('a:', 100_000 * scale)}\r\n\r\n`,
  'nested html': (scale) => `${from}Content-Type: text/html\r\n\r\n${times('<div>', 200_000 * scale)}`,
  'angle brackets': (scale) => `${from}Content-Type: text/html\r\n\r\n${times('<', 1_000_000 * scale)}`,
  'near boundaries': (scale) =>
    `${from}Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(49)}${times('\n--b9x', 1_000_000 * scale)}`,
  'quoted lines': (scale) => `${from}\r\n${times('> > On Sun wrote:\r\n', 50_000 * scale)}`,
  'short flowed lines': (scale) => `${from}Content-Type: text/plain; format=flowed\r\n\r\n${times('> a \r\n>> b \r\n', 100_000 * scale)}`,
  'many signatures': (scale) => `${times(signature, 900 * scale)}${from}\r\n${times(`${'x'.repeat(70)} \r\n`, 10_000 * scale)}`,
  'a signature of every field': (scale) =>
    `${times(signature.replace('h=from', `h=from${':x'.repeat(Math.round(30_000 * scale))}`), 5)}${times('X: y\r\n', 900 * scale)}${from}\r\n`,
  'sealed without end': (scale) =>
    `${times('ARC-Seal: i=1; a=rsa-sha256; cv=none; d=b.example; s=s1; b=AAAA\r\n', 900 * scale)}${from}\r\n`,
  'lines that may stand above a quote': (scale) => `${from}\r\n${times('10:30 a:\r\n', 100_000 * scale)}`,
  'words of instructions': (scale) => `${from}\r\n${times('ignore the previous word and then all \r\n', 30_000 * scale)}`,
  'numbers beside words for codes': (scale) => `${from}\r\n${times('use code 482913 771204\r\n', 50_000 * scale)}`,
  'letters of many letters': (scale) => `${from}\r\n${times('\ufdfa ', 60_000 * scale)}`,
}
