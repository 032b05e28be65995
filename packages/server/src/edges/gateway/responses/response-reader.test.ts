// Responses of targets in chunks of any size, and the limits and syntax that they have to keep.
import { expect, test } from 'vitest'
import { type AnswerHead, AnswerHeads, AnswerReader, BadAnswer } from './response-reader.ts'

type Read = { heads: AnswerHead[]; information: AnswerHead[]; body: string; trailers: [string, string][] | null }

function read(pieces: Iterable<string>, method = 'GET'): Read {
  const found: Read = { heads: [], information: [], body: '', trailers: null }
  const reader = new AnswerReader(method, new AnswerHeads(), {
    onInformation: (head) => void found.information.push(head),
    onHead: (head) => void found.heads.push(head),
    onBody: (bytes) => {
      found.body += bytes.toString('latin1')
    },
    onComplete: (trailers) => {
      found.trailers = trailers
    },
  })
  for (const piece of pieces) reader.push(Buffer.from(piece, 'latin1'))
  return found
}

const cut = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []

test.each([1, 2, 3, 5, 7, 64, 1000])('an answer in pieces of %i is parsed the same', (size) => {
  const answer =
    `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Long: ${'y'.repeat(700)}\r\n\r\n` +
    `5;note=x\r\nhello\r\n1a\r\n${'z'.repeat(26)}\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n`
  const { heads, information, body, trailers } = read(cut(answer, size))
  expect(information.map(({ status, headers }) => [status, headers])).toEqual([[103, ['Link', '</a>']]])
  expect(heads.map(({ status, headers }) => [status, headers])).toEqual([[200, ['X-Long', 'y'.repeat(700)]]])
  expect([body, trailers]).toEqual([
    `hello${'z'.repeat(26)}`,
    [
      ['X-Sum', '1'],
      ['X-Other', '2'],
    ],
  ])
})

test('a head, with all that come before it for information, and the trailers are at most 64 KB', () => {
  const hint = `HTTP/1.1 103 Early Hints\r\nX: ${'y'.repeat(8000)}\r\n\r\n`
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'
  const end = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  expect(read([hint.repeat(7), end]).heads.length).toBe(1)
  for (const answer of [
    hint.repeat(9),
    `${hint.repeat(7)}HTTP/1.1 200 OK\r\nX: ${'y'.repeat(12_000)}`,
    `${chunked}${`X: ${'y'.repeat(8000)}\r\n`.repeat(9)}`,
  ])
    for (const size of [100, 100_000]) expect(() => read(cut(answer, size))).toThrow(BadAnswer)
})

test('answers that have no body announce none', () => {
  const [hint, none] = ['HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n']
  const { information, heads } = read([hint, none])
  expect([...information, ...heads].map(({ headers }) => headers)).toEqual([[], []])
  expect(read(['HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n']).heads[0]?.headers).toEqual(['Content-Length', '5'])
})

test('blanks around a value go, those in it stay', () => {
  const blanks = ' \t '.repeat(15_000)
  const { heads } = read([`HTTP/1.1 200 OK\r\nA:b\r\nC: \t d \t\r\nE:${' '.repeat(9)}\r\nF: g${blanks}h \r\nContent-Length: 0\r\n\r\n`])
  expect(heads[0]?.headers).toEqual(['A', 'b', 'C', 'd', 'E', '', 'F', `g${blanks}h`, 'Content-Length', '0'])
})

test('different heads are read separately, also after a malformed one', () => {
  const heads = new AnswerHeads()
  const [one, other] = ['HTTP/1.1 200 OK\r\nX: 1', 'HTTP/1.1 200 OK\r\nX: 2']
  expect(heads.read(one).headers).toEqual(['X', '1'])
  expect(heads.read(other).headers).toEqual(['X', '2'])
  expect(() => heads.read('HTTP/1.1 200 OK\r\nX 3')).toThrow(BadAnswer)
  expect(heads.read(other).headers).toEqual(['X', '2'])
  expect(heads.read(one)).toMatchObject({ headers: ['X', '1'], mayReuse: true })
})
