// Fuzzes the sender checks. The attacker chooses the message, the client that delivers it, and all DNS answers.
import { createPrivateKey } from 'node:crypto'
import { isIP } from 'node:net'
import { generateKeyPairFor } from '../../packages/mail/src/authentication/dkim/key-pair.ts'
import { signMessage } from '../../packages/mail/src/authentication/dkim/signing.ts'
import { checkSender } from '../../packages/mail/src/authentication/sender-checks.ts'
import { sealWithNode } from '../../packages/mail/tests/harness/signers.ts'
import { createZoneResolver } from '../../packages/mail/tests/harness/zone-resolver.ts'
import { checkStorable } from './storable.ts'

export const senderWords = [
  ...['TXT b.example ', 'A b.example 192.0.2.7\n', 'AAAA b.example ::1\n', 'MX b.example 10 b.example\n', 'TROUBLE b.example\n'],
  ...[
    'PTR 7.2.0.192.in-addr.arpa b.example\n',
    'TXT _dmarc.b.example ',
    'TXT s1._domainkey.b.example ',
    'FROM a@b.example\n',
    'HELO b.example\n',
  ],
  ...[
    'IP 2001:db8::7\n',
    'v=spf1 ',
    'include:b.example ',
    'redirect=b.example',
    'exists:%{ir}.b.example ',
    'ip4:192.0.2.0/33 ',
    'ip6:::/0 ',
  ],
  ...['a:b.example//129 ', 'mx ', 'ptr ', 'exp=b.example', '%{', '%{l1r-}', '%{S999R}', '%{h2.}', '-all', '~all', '?all', '+'],
  ...[
    'v=DKIM1; ',
    'k=rsa; ',
    'k=ed25519; ',
    'h=sha1; ',
    't=s:y; ',
    's=email; ',
    'n=x; ',
    'p=;',
    'p=AAAA',
    'p=MAAw',
    '; p=',
    ';;',
    '=;',
    '= =',
  ],
  ...[
    'v=DMARC1; ',
    'p=reject; ',
    'p=none',
    'sp=quarantine; ',
    'np=reject; ',
    'adkim=s; ',
    'aspf=s; ',
    'psd=y; ',
    't=y; ',
    'pct=101; ',
    'rua=mailto:x',
  ],
  ...[
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/simple; d=b.example; s=s1; h=from:from:to; bh=',
    'b=',
    ' bh=',
    '; l=1',
    '; l=999999999999',
    '; x=1',
  ],
  ...[
    '; t=99999999999',
    '; i=@c.b.example',
    '; q=dns/txt',
    '; z=From:a',
    'a=ed25519-sha256; ',
    'a=rsa-sha1; ',
    'c=simple; ',
    'c=relaxed/relaxed/x; ',
    'd=example; ',
  ],
  ...[
    'd=co.uk; ',
    'h=; ',
    's=; ',
    's=*; ',
    'ARC-Seal: i=1; cv=none; a=rsa-sha256; d=b.example; s=s1; b=',
    'ARC-Seal: i=2; cv=pass; ',
    'ARC-Message-Signature: i=1; ',
  ],
  ...[
    'ARC-Authentication-Results: i=1; mx.example; spf=pass\r\n',
    'i=51; ',
    'i=0; ',
    'From: a@b.example\r\n',
    'From: "x" <a@B.example>, c@d.example\r\n',
  ],
  ...[
    'From: a@xn--bcher-kva.example\r\n',
    'From: <>\r\n',
    '\r\n',
    '\r\n ',
    '\n',
    '\n\n',
    '\t',
    ' ',
    '\0',
    '\xff',
    '\xc3\xbc',
    '(',
    ')',
    '"',
    '.',
    '..',
    '@',
  ],
]

const attackerKeys = await Promise.all((['rsa-sha256', 'ed25519-sha256'] as const).map(generateKeyPairFor))
const plain = Buffer.from(
  'From: Ann <a@b.example>\r\nTo: c@d.example\r\nSubject: Hello\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\nMessage-ID: <1@b.example>\r\n' +
    'Authentication-Results: mx.example; spf=pass\r\n\r\nHello there.  \r\n\r\n\r\n',
)
const zoneText = [
  ...attackerKeys.map(
    ({ algorithm, publicKey }, i) => `TXT s${i + 1}._domainkey.b.example v=DKIM1; k=${algorithm.split('-')[0]}; p=${publicKey}`,
  ),
  'TXT b.example v=spf1 a mx include:c.example exists:%{ir}.%{v}._spf.%{d2} ip4:192.0.2.0/24 ip6:2001:db8::/32 ptr:b.example -all',
  'TXT c.example v=spf1 redirect=b.example exp=why.%{d}',
  'TXT _dmarc.b.example v=DMARC1; p=reject; sp=quarantine; np=none; adkim=s; aspf=r; t=n; rua=mailto:x@b.example',
  'A b.example 192.0.2.7',
  'MX b.example 10 mx.b.example',
  'A mx.b.example 192.0.2.8',
  'PTR 7.2.0.192.in-addr.arpa b.example',
  'FROM a@b.example',
  'HELO b.example',
  'IP 192.0.2.7',
  '',
  '',
].join('\n')

/** Mail with two valid signatures and its zone, also with a valid chain of three seals. */
export async function makeSenderSeeds(): Promise<Buffer[]> {
  const keys = attackerKeys.map(({ algorithm, privatePem }, i) => ({
    domain: 'b.example',
    selector: `s${i + 1}`,
    algorithm,
    privateKey: createPrivateKey(privatePem),
  }))
  const signed = await signMessage(plain, keys, new Date())
  let sealed = signed
  const key = createPrivateKey(attackerKeys[0]?.privatePem as string)
  for (let i = 0; i < 3; i++) sealed = sealWithNode(sealed, { domain: 'b.example', selector: 's1', key, service: 'mx.example' })
  return [plain, signed, sealed].map((raw) => Buffer.concat([Buffer.from(zoneText), raw]))
}

type Records = { TXT?: string[]; A?: string[]; AAAA?: string[]; PTR?: string[]; MX?: { preference: number; exchange: string }[] }

/** The input has one line per DNS answer or client property, then an empty line and the message. Other lines are ignored. */
function readInput(input: Buffer) {
  const end = input.indexOf('\n\n')
  const zone: Record<string, Records | 'failure'> = {}
  const said = { FROM: 'a@b.example', HELO: 'b.example', IP: '192.0.2.7' }
  for (const line of input.toString('latin1', 0, Math.max(end, 0)).split('\n')) {
    const [, type = '', name = '', text = ''] = /^([A-Z]+) ([^ ]*) ?(.*)$/s.exec(line) ?? []
    if (type === 'FROM' || type === 'HELO' || type === 'IP') said[type] = name.replace(/\p{Cc}/gu, '')
    const known = zone[name]
    if (known === 'failure') continue
    if (type === 'TROUBLE') zone[name] = 'failure'
    else if (type === 'MX') zone[name] = { ...known, MX: [...(known?.MX ?? []), { preference: 10, exchange: text.replace(/^\d+ /, '') }] }
    else if (type === 'TXT' || type === 'A' || type === 'AAAA' || type === 'PTR')
      zone[name] = { ...known, [type]: [...(known?.[type] ?? []), text] }
  }
  return { zone, said, raw: end < 0 ? input : input.subarray(end + 2) }
}

const questionsMax = 150

/** Runs once and throws when a check fails. Returns the results of the checks in a word. */
export async function fuzzSender(input: Buffer): Promise<string> {
  const { zone, said, raw } = readInput(input)
  const resolver = createZoneResolver(zone)
  // The address comes from the socket. The SMTP server rejects control characters in names.
  const client = { address: isIP(said.IP) ? said.IP : '192.0.2.7', name: said.HELO }
  const verdicts = await checkSender({ envelopeFrom: said.FROM, client, raw }, { resolver, hostname: 'mx.example', nowMs: Date.now })
  checkStorable(verdicts)
  const { spf, dkim, dmarc, arc } = verdicts
  if (resolver.asked.length > questionsMax) throw new Error(`${resolver.asked.length} questions to DNS for one message`)
  const passes = dkim?.signatures.some(({ result }) => result === 'pass') ?? false
  if (dkim?.result === 'pass' && !passes) throw new Error('DKIM passes without a signature that does')
  if (dmarc?.result === 'pass' && spf?.result !== 'pass' && !passes) throw new Error('DMARC passes on nothing')
  if ((dkim?.signatures.length ?? 0) > 10) throw new Error(`${dkim?.signatures.length} signatures were checked`)
  const reasons = [spf?.reason, dkim?.signatures[0]?.reason, dmarc?.reason, arc?.reason].map((reason) =>
    reason?.replace(/\W.*/s, '').slice(0, 12),
  )
  return [spf?.result, dkim?.result, dkim?.signatures.length, dmarc?.result, arc?.result, ...reasons].join(' ')
}
