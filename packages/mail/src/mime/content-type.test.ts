// Parameters and file names: the examples of RFC 2231 and the forms real senders use.
import { describe, expect, it } from 'vitest'
import { readMediaType, readParameters } from './content-type.ts'
import { cleanFilename, defaultFilename } from './filenames.ts'

const parameter = (text: string, name: string) => readParameters(text).parameters.get(name)

describe('RFC 2231', () => {
  it('§3 joins continued values', () => {
    const text = 'message/external-body; access-type=URL; URL*0="ftp://"; URL*1="cs.utk.edu/pub/moore/bulk-mailer/bulk-mailer.tar"'
    expect(readParameters(text).value).toBe('message/external-body')
    expect(parameter(text, 'url')).toBe('ftp://cs.utk.edu/pub/moore/bulk-mailer/bulk-mailer.tar')
  })
  it('§4 decodes charset and language', () =>
    expect(parameter("application/x-stuff; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A", 'title')).toBe('This is ***fun***'))
  it('§4.1 does both together, whatever the order', () => {
    const parts = ["title*0*=us-ascii'en'This%20is%20even%20more%20", 'title*1*=%2A%2A%2Afun%2A%2A%2A%20', 'title*2="isn\'t it!"']
    expect(parameter(`application/x-stuff; ${parts.join('; ')}`, 'title')).toBe("This is even more ***fun*** isn't it!")
    expect(parameter(`application/x-stuff; ${parts.reverse().join('; ')}`, 'title')).toBe("This is even more ***fun*** isn't it!")
  })
})

describe('forms of real senders', () => {
  const table: [string, string, string | undefined][] = [
    ['x; filename="a;b=c.txt"; y=z', 'filename', 'a;b=c.txt'],
    ['x; filename=my report (1).pdf; size=3', 'filename', 'my report (1).pdf'],
    ['x; FileName = "a.txt"', 'filename', 'a.txt'],
    ['x; filename="a\\"b.txt"', 'filename', 'a"b.txt'],
    ['x; filename="C:\\docs\\a.txt"', 'filename', 'C:\\docs\\a.txt'],
    ['x; filename="open.txt', 'filename', 'open.txt'],
    ["x; filename=plain.txt; filename*=UTF-8''%C3%A4.txt", 'filename', 'ä.txt'],
    ['x; filename*=%C3%A4.txt', 'filename', 'ä.txt'],
    ["x; filename*=iso-8859-1''%E4.txt", 'filename', 'ä.txt'],
    ["x; filename*0*=UTF-8''%C3; filename*1*=%A4.txt", 'filename', 'ä.txt'],
    ['x; charset="utf-8"; charset=latin1', 'charset', 'utf-8'],
    ['x; ; =; a', 'a', undefined],
    ['', 'a', undefined],
  ]
  it.each(table)('%s', (text, name, expected) => expect(parameter(text, name)).toBe(expected))

  it('falls back on a readable type', () => {
    expect(readMediaType(readParameters('TEXT/HTML; charset=x').value, 'text/plain')).toBe('text/html')
    expect(readMediaType(readParameters('text').value, 'application/octet-stream')).toBe('text/plain')
    expect(readMediaType(readParameters('a b c').value, 'text/plain')).toBe('text/plain')
  })
})

describe('file names', () => {
  const table: [string, string | null][] = [
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\x\\y.exe', 'C__x_y.exe'],
    ['a\r\nb\0c.txt', 'a  bc.txt'],
    ['invoice\u202Egpj.exe', 'invoicegpj.exe'],
    ['=?utf-8?Q?=C3=A4.txt?=', 'ä.txt'],
    ['...', null],
    ['  ', null],
    ['.htaccess', 'htaccess'],
  ]
  it.each(table)('%j', (written, expected) => expect(cleanFilename(written)).toBe(expected))

  it('keeps the extension and whole characters of a long one', () => {
    for (const unit of ['a', 'ä', '日', '😀']) {
      const name = cleanFilename(`${unit.repeat(300)}.pdf`)!
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(Buffer.byteLength(name)).toBeGreaterThan(250)
      expect(name).toMatch(new RegExp(`^(${unit})+\\.pdf$`, 'u'))
    }
  })
  it('has a default for a type', () => {
    expect(defaultFilename('message/rfc822')).toBe('message.eml')
    expect(defaultFilename('x/y')).toBe('attachment.bin')
  })
})
