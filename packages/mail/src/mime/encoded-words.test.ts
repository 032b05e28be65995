// Encoded words: the table of RFC 2047 §8 and the ways real senders bend the rules.
import { describe, expect, it } from 'vitest'
import { decodeEncodedWords } from './encoded-words.ts'

describe('the table of RFC 2047 §8', () => {
  const table: [string, string][] = [
    ['(=?ISO-8859-1?Q?a?=)', '(a)'],
    ['(=?ISO-8859-1?Q?a?= b)', '(a b)'],
    ['(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)', '(ab)'],
    ['(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)', '(ab)'],
    ['(=?ISO-8859-1?Q?a?=\r\n    =?ISO-8859-1?Q?b?=)', '(ab)'],
    ['(=?ISO-8859-1?Q?a_b?=)', '(a b)'],
    ['(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)', '(a b)'],
    ['=?US-ASCII?Q?Keith_Moore?=', 'Keith Moore'],
    ['=?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?=', 'Keld Jørn Simonsen'],
    ['=?ISO-8859-1?Q?Andr=E9?= Pirard', 'André Pirard'],
    [
      '=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\r\n =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=',
      'If you can read this you understand the example.',
    ],
    ['=?iso-8859-8?b?7eXs+SDv4SDp7Oj08A==?=', 'םולש ןב ילטפנ'],
  ]
  it.each(table)('%j', (encoded, decoded) => expect(decodeEncodedWords(encoded)).toBe(decoded))
})

describe('forms of real senders', () => {
  const table: [string, string, string][] = [
    ['a charset with a language', '=?koi8-r*ru?Q?=F0?=', 'П'],
    ['a character split over two B words', '=?utf-8?B?w6TD?= =?utf-8?B?tg==?=', 'äö'],
    ['a character split over two Q words', '=?utf-8?Q?=C3?= =?UTF-8?Q?=A4?=', 'ä'],
    ['a character split over a Q and a B word', '=?utf-8?Q?=C3?= =?utf-8?B?pA==?=', 'ä'],
    ['base64 cut in the middle of a quantum', '=?utf-8?B?SGVsbG8gd2?= =?utf-8?B?9ybGQ=?=', 'Hello world'],
    ['missing padding', '=?utf-8?B?SGVsbG8?=', 'Hello'],
    ['a language (RFC 2231 §5)', '=?US-ASCII*EN?Q?Keith_Moore?=', 'Keith Moore'],
    ['blanks inside', '=?utf-8?Q?Hello world?=', 'Hello world'],
    ['no blank around', 'a=?utf-8?Q?b?=c', 'abc'],
    ['lower-case hex', '=?utf-8?q?=c3=a4?=', 'ä'],
    ['an alias charset', '=?cp932?B?k/qWew==?=', '日本'],
    ['iso-2022-jp', '=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=', '日本'],
    ['iso-2022-jp words side by side', '=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=', '日本日本'],
    ['utf-7', '=?utf-7?Q?+AOQ-b?=', 'äb'],
    ['an unknown charset', '=?x-none?Q?=C3=A4?=', 'ä'],
    ['an unfinished word', '=?utf-8?Q?abc', '=?utf-8?Q?abc'],
    ['an unknown encoding', '=?utf-8?X?abc?=', '=?utf-8?X?abc?='],
    ['an empty text', 'a =?utf-8?Q??= b', 'a  b'],
    ['a word in a half word', '=?utf-8?=?utf-8?Q?a?=', '=?utf-8?a'],
    ['a bad escape', '=?utf-8?Q?100=?=', '100='],
  ]
  it.each(table)('%s', (_name, encoded, decoded) => expect(decodeEncodedWords(encoded)).toBe(decoded))
})

describe('words that are nearly right, and neighbors', () => {
  const table: [string, string][] = [
    ['=x=?utf-8?Q?a?=', '=xa'],
    ['x?utf-8?Q?a?=', 'x?utf-8?Q?a?='],
    ['==?utf-8?Q?a?=', '=a'],
    ['=??Q?a?=', '=??Q?a?='],
    ['=?utf-8?Qa?=', '=?utf-8?Qa?='],
    ['=?utf-8?QQ?a?=', '=?utf-8?QQ?a?='],
    [
      '=?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx?Q?a?=',
      '=?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx?Q?a?=',
    ],
    ['=?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx?Q?a?=', 'a'],
    ['=?utf 8?Q?a?=', '=?utf 8?Q?a?='],
    ['=?utf=8?Q?a?=', '=?utf=8?Q?a?='],
    ['=?utf-8', '=?utf-8'],
    ['=?utf-8?Q?a?b?= c', 'a?b c'],
    ['=?utf-8?Q?a??=', 'a?'],
    ['=?utf-8?B?YQ?b?=', '=?utf-8?B?YQ?b?='],
    ['=?utf-8?B?YQ==?b?= =?utf-8?B?YQ==?=', '=?utf-8?B?YQ==?b?= a'],
    ['=?utf-8?Q?a?b', '=?utf-8?Q?a?b'],
    ['=?UTF-8?Q?a?= =?utf-8?Q?b?=', 'ab'],
    ['=?*en?Q?a?=', 'a'],
    ['=?utf-8*en?Q?a?= =?utf-8*de?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?= x =?utf-8?Q?b?=', 'a x b'],
    ['=?utf-8?Q?a?= =?latin1?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?= x =?latin1?Q?b?=', 'a x b'],
    ['x =?utf-8?Q?a?=', 'x a'],
    ['=?utf-8?B?w6Q=?= =?utf-8?Q?=C3?= =?utf-8?Q?=B6?=', 'äö'],
    ['=?utf-8?B?YQ?= =?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?B?YWI=?= =?utf-8?B?Y2Q=?=', 'abcd'],
    ['=?utf-8?B?YQ=?= =?utf-8?B?Yg==?=', 'ab'],
    ['=?utf-8?B?YWJj?= =?utf-8?B?ZA==?=', 'abcd'],
    ['=?utf-8?Q?a=4?=', 'a=4'],
    ['=?utf-8?Q?a=41?=', 'aA'],
    ['=?utf-8?Q?=4/=/1=:1=g1=G1=`1=@1=61?=', '=4/=/1=:1=g1=G1=`1=@1a'],
    ['=?utf-8?Q?=99=aF=Fa=00?=', '\ufffd\ufffd\ufffd\u0000'],
    ['=?utf-8?Q?=4g=4G=4:=4/=4@=4`=40=49=4a=4f?=', '=4g=4G=4:=4/=4@=4`@IJO'],
    ['a=?b', 'a=?b'],
    ['=?utf-8?Q?a?=ä=?utf-8?Q?b?=', 'aäb'],
    ['=?utf-8?Q?ä=C3=A4?=', 'ää'],
  ]
  it.each(table)('%j', (encoded, decoded) => expect(decodeEncodedWords(encoded)).toBe(decoded))
})
