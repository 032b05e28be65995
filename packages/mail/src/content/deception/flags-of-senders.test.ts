// Flags of senders, names, replies and links, each with all flags of the message.
import { expect, test } from 'vitest'
import { disallowedCharacters } from '../../authentication/dmarc/author-domain.ts'
import { toFlags } from './flags.ts'
import type { Indicators } from './indicators.ts'

type Sender = Parameters<typeof toFlags>[1]
type Mailbox = { name: string; address: string }
type Case = Partial<Pick<Indicators, 'misdirections' | 'imitations'>> & {
  from?: Mailbox[]
  to?: Mailbox[]
  cc?: Mailbox[]
  replyTo?: string[]
  headers?: string[][]
  autoSubmitted?: boolean
  name?: string
  address?: string
  source?: string
  dmarc?: object | null
  hasAuthor?: boolean
  isUnverified?: boolean
}

const author = { name: '', address: 'ann@shop.example' }
const unauthenticated = {
  ...{ result: 'none', domain: null, policy_domain: null, policy: null },
  ...{ alignment: { spf: false, dkim: false }, record: null, reason: null },
}

function flagsOf({ from = [author], to = [], cc = [], replyTo = [], headers = [], autoSubmitted = false, ...one }: Case): string[] {
  const { misdirections = [], imitations = [], dmarc = {}, source = 'smtp' } = one
  const fields = headers.map(([name, value]) => ({ name, value }))
  const parsed = { from, to, cc, replyTo: replyTo.map((address) => ({ name: '', address })), headers: fields, autoSubmitted }
  const verdicts = { source, spf: null, dkim: null, arc: null, dmarc: dmarc === null ? null : { ...unauthenticated, ...dmarc } }
  const { name = '', address = author.address, hasAuthor = true, isUnverified = false } = one
  const sender = { parsed, name, address, verdicts, hasAuthor, isUnverified, ownDomains: ['own.test'] } as unknown as Sender
  return toFlags({ hiddenText: null, instructions: null, misdirections, imitations }, sender).map(
    ({ type, reason, evidence }) => `${type}: ${reason} (${evidence})`,
  )
}

const cases: [string, Case, string[]][] = [
  ['nothing', {}, []],
  [
    'two links to elsewhere: the first one',
    {
      misdirections: [
        { shown: 'bank.example', host: 'one.test', href: 'https://one.test/' },
        { shown: 'bank.example', host: 'two.test', href: 'https://two.test/' },
      ],
    },
    ['link_mismatch: A link that shows bank.example leads to one.test. (https://one.test/)'],
  ],
  [
    'a name with blanks around a host',
    { name: ' www.bank.example ' },
    [
      'display_name_spoofing: The display name shows bank.example, but the message is from ann@shop.example. ( www.bank.example  <ann@shop.example>)',
    ],
  ],
  [
    'a name with www inside',
    { name: 'my.www.bank.example' },
    [
      'display_name_spoofing: The display name shows my.www.bank.example, but the message is from ann@shop.example. (my.www.bank.example <ann@shop.example>)',
    ],
  ],
  ['a blank name', { name: '  ' }, []],
  ['replies to nowhere, and empty recipients', { replyTo: [''], to: [{ name: 'x', address: '' }] }, []],
  ['replies to the own domain in capitals', { replyTo: ['Help@Shop.EXAMPLE'] }, []],
  [
    'no author and no DMARC result',
    { dmarc: null, hasAuthor: false },
    ['failed_authentication: From does not name exactly one author, so the author cannot be authenticated. (ann@shop.example)'],
  ],
  [
    'a character that is not shown in the domain',
    { address: 'ann@sh\u00adop.example', dmarc: { reason: disallowedCharacters } },
    [
      "lookalike_domain: The author's domain contains invisible characters, or characters that domain names cannot contain. (ann@sh<U+00AD>op.example)",
    ],
  ],
  [
    'no DMARC result',
    { dmarc: null, misdirections: [{ shown: 'www.shop.example', host: 'track.example', href: 'https://track.example/x' }] },
    ['link_mismatch: A link that shows www.shop.example leads to track.example. (https://track.example/x)'],
  ],
  [
    'a link of its own name, authentic',
    { dmarc: { result: 'pass' }, misdirections: [{ shown: 'www.shop.example', host: 'track.example', href: 'https://track.example/x' }] },
    [],
  ],
  [
    'a link of its own name, not authentic',
    { misdirections: [{ shown: 'www.shop.example', host: 'track.example', href: 'https://track.example/x' }] },
    ['link_mismatch: A link that shows www.shop.example leads to track.example. (https://track.example/x)'],
  ],
  [
    'a link of its own name, aligned by SPF',
    {
      dmarc: { alignment: { spf: true, dkim: false } },
      misdirections: [{ shown: 'www.shop.example', host: 'track.example', href: 'https://track.example/x' }],
    },
    [],
  ],
  [
    'a link of its own name, aligned by DKIM',
    {
      dmarc: { alignment: { spf: false, dkim: true } },
      misdirections: [{ shown: 'www.shop.example', host: 'track.example', href: 'https://track.example/x' }],
    },
    [],
  ],
  [
    'a counted link in a list',
    {
      dmarc: { result: 'pass' },
      misdirections: [{ shown: 'bank.example', host: 'x.sendgrid.net', href: 'https://x.sendgrid.net/x' }],
      headers: [['List-Id', 'x']],
    },
    [],
  ],
  [
    'a counted link with a way to leave',
    {
      dmarc: { result: 'pass' },
      misdirections: [{ shown: 'bank.example', host: 'x.sendgrid.net', href: 'https://x.sendgrid.net/x' }],
      headers: [
        ['To', 'x'],
        ['LIST-UNSUBSCRIBE', 'x'],
      ],
    },
    [],
  ],
  [
    'a counted link in automatic mail',
    {
      dmarc: { result: 'pass' },
      misdirections: [{ shown: 'bank.example', host: 'x.sendgrid.net', href: 'https://x.sendgrid.net/x' }],
      autoSubmitted: true,
    },
    [],
  ],
  [
    'a counted link in other mail',
    {
      dmarc: { result: 'pass' },
      misdirections: [{ shown: 'bank.example', host: 'x.sendgrid.net', href: 'https://x.sendgrid.net/x' }],
      headers: [
        ['X-List-Id', 'x'],
        ['List-Id-X', 'x'],
      ],
    },
    ['link_mismatch: A link that shows bank.example leads to x.sendgrid.net. (https://x.sendgrid.net/x)'],
  ],
  [
    'a counted link in a list that is not authentic',
    { misdirections: [{ shown: 'bank.example', host: 'x.sendgrid.net', href: 'https://x.sendgrid.net/x' }], headers: [['List-Id', 'x']] },
    ['link_mismatch: A link that shows bank.example leads to x.sendgrid.net. (https://x.sendgrid.net/x)'],
  ],
  [
    'two senders',
    {
      from: [
        { name: '', address: 'Ann@shop.example' },
        { name: '', address: 'bob@x.example' },
      ],
    },
    ['several_senders: From names 2 senders, and mail programs show only one of them. (ann@shop.example, bob@x.example)'],
  ],
  [
    'one sender twice',
    {
      from: [
        { name: '', address: 'Ann@shop.example' },
        { name: '', address: 'ann@shop.example' },
        { name: 'x', address: '' },
      ],
    },
    [],
  ],
  [
    'no author',
    {
      from: [
        { name: 'Ann', address: '' },
        { name: 'B', address: 'b@x.example' },
      ],
      hasAuthor: false,
    },
    ['failed_authentication: From does not name exactly one author, so the author cannot be authenticated. (Ann, b@x.example)'],
  ],
  [
    'no author, with a reason',
    { from: [], hasAuthor: false, dmarc: { reason: 'two fields' } },
    ['failed_authentication: From does not name exactly one author (two fields), so the author cannot be authenticated. ()'],
  ],
  [
    'servers that do not answer',
    { isUnverified: true },
    ['unverified_sender: The DNS servers of this machine did not answer, so the sender could not be authenticated. (ann@shop.example)'],
  ],
  [
    'a failed policy',
    { dmarc: { result: 'fail', policy: 'reject', domain: 'shop.example' } },
    ['failed_authentication: The message failed the DMARC policy of shop.example, so its sender may be forged. (ann@shop.example)'],
  ],
  [
    'a failed quarantine policy',
    { dmarc: { result: 'fail', policy: 'quarantine', domain: null } },
    ['failed_authentication: The message failed the DMARC policy of shop.example, so its sender may be forged. (ann@shop.example)'],
  ],
  ['a failed policy that asks for nothing', { dmarc: { result: 'fail', policy: 'none', domain: 'shop.example' } }, []],
  [
    'a hosted name from outside',
    { address: 'ann@own.test' },
    [
      'failed_authentication: The message came from outside in the name of own.test, which is hosted here, and is not authenticated. (ann@own.test)',
    ],
  ],
  [
    'a name below a hosted one from outside',
    { address: 'ann@sub.own.test' },
    [
      'failed_authentication: The message came from outside in the name of sub.own.test, which is hosted here, and is not authenticated. (ann@sub.own.test)',
    ],
  ],
  ['a name that ends like a hosted one', { address: 'ann@xown.test' }, []],
  ['a hosted name, authentic', { address: 'ann@own.test', dmarc: { result: 'pass' } }, []],
  ['a hosted name from inside', { address: 'ann@own.test', source: 'submission' }, []],
  [
    'another address in a name',
    { name: ' Boss <CEO@bank.example> ' },
    [
      'display_name_spoofing: The display name shows CEO@bank.example, but the message is from ann@shop.example. ( Boss <CEO@bank.example>  <ann@shop.example>)',
    ],
  ],
  [
    'another domain as the name',
    { name: 'www.bank.com' },
    ['display_name_spoofing: The display name shows bank.com, but the message is from ann@shop.example. (www.bank.com <ann@shop.example>)'],
  ],
  [
    'a domain within a name',
    { name: 'xwww.bank.com' },
    [
      'display_name_spoofing: The display name shows xwww.bank.com, but the message is from ann@shop.example. (xwww.bank.com <ann@shop.example>)',
    ],
  ],
  ['its own domain as the name', { name: 'SHOP.example' }, []],
  ['the address for replies in the name', { name: 'ceo@bank.example via Docs', replyTo: ['CEO@bank.example'] }, []],
  [
    'letters in another order',
    { name: 'abc\u202edef' },
    [
      'display_name_spoofing: The display name shows its letters in another order than they are written, but the message is from ann@shop.example. (abc\u202edef <ann@shop.example>)',
    ],
  ],
  ['a name without an address', { name: 'ceo@bank.example', address: '' }, []],
  [
    'replies to elsewhere, second',
    { replyTo: ['a@shop.example', 'X@Evil.example'] },
    ['reply_to_mismatch: The message is from ann@shop.example, but replies go to X@Evil.example. (X@Evil.example)'],
  ],
  ['replies to a name without a domain', { replyTo: ['x'] }, []],
  ['replies to the same organization', { replyTo: ['x@sub.shop.example'] }, []],
  ['replies to a recipient', { replyTo: ['x@evil.example'], to: [{ name: '', address: 'X@evil.example' }] }, []],
  ['replies to a copied recipient', { replyTo: ['x@evil.example'], cc: [{ name: '', address: 'x@evil.example' }] }, []],
  ['replies to a list', { replyTo: ['l@lists.example'], headers: [['List-Post', '<mailto:L@lists.example>']] }, []],
  [
    'replies to a list of another field',
    {
      replyTo: ['l@lists.example'],
      headers: [
        ['X-List-Post', '<mailto:l@lists.example>'],
        ['List-Posts', '<mailto:l@lists.example>'],
      ],
    },
    ['reply_to_mismatch: The message is from ann@shop.example, but replies go to l@lists.example. (l@lists.example)'],
  ],
  ['replies of a list that is authentic', { replyTo: ['x@evil.example'], dmarc: { result: 'pass' }, headers: [['List-Id', 'x']] }, []],
  [
    'replies of a list that is not authentic',
    { replyTo: ['x@evil.example'], headers: [['List-Id', 'x']] },
    ['reply_to_mismatch: The message is from ann@shop.example, but replies go to x@evil.example. (x@evil.example)'],
  ],
  ['replies of a program', { replyTo: ['x@evil.example'], address: 'no-reply@shop.example' }, []],
  ['replies without an address', { replyTo: ['x@evil.example'], address: '' }, []],
  [
    'a lookalike of a hosted name',
    { address: 'ann@0wn-er.test', to: [{ name: '', address: 'b@Owner.test' }] },
    ['lookalike_domain: 0wn-er.test looks like owner.test but is another domain. (0wn-er.test)'],
  ],
  [
    'a lookalike of a copied recipient',
    { address: 'ann@paypa1.example', cc: [{ name: '', address: 'b@paypal.example' }] },
    ['lookalike_domain: paypa1.example looks like paypal.example but is another domain. (paypa1.example)'],
  ],
  ['a recipient without a domain', { address: 'ann@paypa1.example', cc: [{ name: '', address: '' }] }, []],
  [
    'letters of another script',
    { address: 'ann@\u0440aypal.com' },
    ['lookalike_domain: \u0440aypal.com imitates paypal.com with letters of another script. (\u0440aypal.com)'],
  ],
  [
    'letters of another script for replies',
    { replyTo: ['a@\u0440aypal.com'], to: [{ name: '', address: 'a@\u0440aypal.com' }] },
    ['lookalike_domain: \u0440aypal.com imitates paypal.com with letters of another script. (\u0440aypal.com)'],
  ],
  [
    'an imitating link',
    { imitations: [{ host: 'xn--aypal-uye.com', imitated: 'paypal.com' }] },
    ['lookalike_domain: A link leads to xn--aypal-uye.com, which imitates paypal.com with letters of another script. (xn--aypal-uye.com)'],
  ],
  [
    'invisible characters in the domain',
    {
      address: 'ann@pay\u200bpal\ud83d\ude00.com',
      dmarc: { reason: 'the author domain holds characters that are not allowed in a domain name' },
    },
    [
      "lookalike_domain: The author's domain contains invisible characters, or characters that domain names cannot contain. (ann@pay<U+200B>pal<U+1F600>.com)",
    ],
  ],
]
test.each(cases)('%s', (_, mail, flags) => {
  expect(flagsOf(mail)).toEqual(flags)
})
