// Full names for the names that providers return, and values that cannot inject further lines.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DomainRecord } from './model.ts'
import { wholeName, zoneFile } from './zone-file.ts'

test.each([
  ['example.com', 'example.com', 'example.com'],
  ['@', 'example.com', 'example.com'],
  ['', 'example.com', 'example.com'],
  ['_dmarc.example.com', 'example.com', '_dmarc.example.com'],
  ['_dmarc.Example.com.', 'example.com', '_dmarc.example.com'],
  ['send', 'example.com', 'send.example.com'],
  ['send', 'example.co.uk', 'send.example.co.uk'],
  ['send.mail', 'mail.example.com', 'send.mail.example.com'],
  ['send.a.b', 'a.b.example.com', 'send.a.b.example.com'],
  ['send.send', 'send.example.com', 'send.send.example.com'],
  ['resend._domainkey.mail', 'mail.example.com', 'resend._domainkey.mail.example.com'],
  ['notexample.com', 'example.com', 'notexample.com.example.com'],
])('%j of %s is %s', (name, domain, whole) => {
  expect(wholeName(name, domain)).toBe(whole)
})

test('a value that the provider has already quoted is quoted once', () => {
  const spf = { type: 'TXT', name: '@', value: '"v=spf1 -all"', status: 'pending', purpose: 'spf', required: true } as const
  expect(zoneFile('example.com', [spf])).toContain('\tIN\tTXT\t"v=spf1 -all"\n')
})

test("a provider's text cannot add a line", () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\nevil IN A 192.0.2.1', '$INCLUDE /etc/passwd', '; x', '( '))
  const record: fc.Arbitrary<DomainRecord> = fc.record({
    type: fc.constantFrom('MX' as const, 'TXT' as const, 'CNAME' as const),
    name: text,
    value: text,
    priority: fc.nat(),
    status: fc.constant('pending' as const),
    purpose: text,
    required: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 4 }), (records) => {
      const lines = zoneFile('example.com', records).split('\n')
      const shape = /^(;[ -~]*|\$ORIGIN example\.com\.|\$TTL \d+|[a-z0-9_*.-]+\.\t\d+\tIN\t(MX|TXT|CNAME)\t([ -~]*)|)$/i
      expect(lines.filter((line) => !shape.test(line))).toEqual([])
      expect(lines).toHaveLength(4 + 2 * records.length)
    }),
  )
})

test('the whole file: comments, relative names made full, hosts with a final dot, and what cannot be written', () => {
  const record = (type: 'MX' | 'TXT' | 'CNAME', name: string, value: string, more: Partial<DomainRecord> = {}): DomainRecord => ({
    ...{ type, name, value, status: 'pending', purpose: 'mx', required: true },
    ...more,
  })
  const long = `${'a'.repeat(63)}.`.repeat(4)
  const records = [
    record('MX', '@', 'mail.example.net.', { priority: 20 }),
    record('MX', 'send', 'mail.example.net', { purpose: 'bounces', required: false, status: 'valid' }),
    record('CNAME', '_x._y', 'target', { purpose: 'Größe\n' }),
    record('TXT', '*', 'a "b"'),
    record('TXT', 'a b', 'x'),
    record('TXT', '-', ''),
    record('TXT', long.slice(0, 241), 'x'),
    record('TXT', long.slice(0, 242), 'x'),
    record('MX', '@', 'not a host'),
    record('CNAME', 'www', ''),
    record('CNAME', 'www', 'a..b'),
  ]
  const left = '; left out: its name or value cannot stand in a zone file'
  expect(zoneFile('example.com', records)).toBe(
    [
      '; DNS records of example.com',
      '$ORIGIN example.com.',
      '$TTL 3600',
      '; mx: pending',
      'example.com.\t3600\tIN\tMX\t20 mail.example.net.',
      '; bounces, recommended: valid',
      'send.example.com.\t3600\tIN\tMX\t10 mail.example.net.',
      '; Gr??e?: pending',
      '_x._y.example.com.\t3600\tIN\tCNAME\ttarget.',
      '; mx: pending',
      '*.example.com.\t3600\tIN\tTXT\t"a \\"b\\""',
      '; mx: pending',
      left,
      '; mx: pending',
      '-.example.com.\t3600\tIN\tTXT\t""',
      '; mx: pending',
      `${long.slice(0, 241)}.example.com.\t3600\tIN\tTXT\t"x"`,
      ...Array(4).fill(['; mx: pending', left]).flat(),
      '',
    ].join('\n'),
  )
})
