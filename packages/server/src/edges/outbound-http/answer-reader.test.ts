// Answers of webhook receivers as they arrive, whole and in pieces.
import { describe, expect, test } from 'vitest'
import { FetchRefused } from '../../core/web.ts'
import { readAnswerHead } from './answer-head.ts'
import { AnswerReader, type PostAnswer } from './answer-reader.ts'

const ok = 'HTTP/1.1 200 OK\r\n'

/** Reads a text in pieces of this size. The connection ends behind it. Every piece is overwritten after it was read. */
function read(text: string, pieceBytes = text.length, snippetBytesMax = 1024): PostAnswer {
  const reader = new AnswerReader(snippetBytesMax)
  const all = Buffer.from(text, 'latin1')
  for (let at = 0; at < all.length; at += pieceBytes) {
    const piece = Buffer.from(all.subarray(at, at + pieceBytes))
    const answer = reader.read(piece)
    piece.fill('#')
    if (answer) return answer
  }
  return reader.finish()
}

const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
const open = Number.POSITIVE_INFINITY

describe('answers, in one piece and byte by byte', () => {
  test.each([
    ['a length', `${ok}content-length: 2\r\n\r\nok`, { status: 200, snippet: 'ok', keptMs: open }],
    ['an empty body', `${ok}content-length: 0\r\n\r\n`, { status: 200, snippet: '', keptMs: open }],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, snippet: '', keptMs: open }],
    ['no reason', 'HTTP/1.1 204\r\n\r\n', { status: 204, snippet: '', keptMs: open }],
    [
      'not modified, with the length of another body',
      'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\n',
      { status: 304, snippet: '', keptMs: open },
    ],
    ['chunks', `${chunked}2;a=b\r\nab\r\n1 \r\nc\r\n0\r\n\r\n`, { status: 200, snippet: 'abc', keptMs: open }],
    ['chunks with trailers', `${chunked}A\r\n0123456789\r\n0\r\na: b\r\nc: d\r\n\r\n`, { snippet: '0123456789', keptMs: open }],
    ['a body up to the end', `${ok}\r\nabc`, { snippet: 'abc', keptMs: null }],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\nabc`, { snippet: 'abc', keptMs: null }],
    ['a cut body', `${ok}content-length: 9\r\n\r\nhalf`, { status: 200, snippet: 'half', keptMs: null }],
    ['a cut chunk', `${chunked}9\r\nhalf`, { status: 200, snippet: 'half', keptMs: null }],
    ['a chunk longer than its size', `${chunked}2\r\nabc\r\n0\r\n\r\n`, { status: 200, snippet: 'ab', keptMs: null }],
    ['a size that is not hexadecimal', `${chunked}2\r\nab\r\n-1\r\nx`, { status: 200, snippet: 'ab', keptMs: null }],
    ['a size that overflows', `${chunked}fffffffff\r\nx`, { status: 200, snippet: '', keptMs: null }],
    ['a chunk line without its CR', `${chunked}2\nab\r\n0\r\n\r\n`, { status: 200, snippet: '', keptMs: null }],
    [
      'interim answers',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
      { snippet: 'ok', keptMs: open },
    ],
    ['equal lengths', `${ok}content-length: 2\r\ncontent-length: 2\r\n\r\nok`, { status: 200, snippet: 'ok', keptMs: null }],
    ['a list of equal lengths', `${ok}content-length: 2, 2\r\n\r\nok`, { status: 200, snippet: 'ok', keptMs: null }],
    ['equal lengths in two forms', `${ok}content-length: 2 ,02\r\ncontent-length: 2\r\n\r\nok`, { snippet: 'ok', keptMs: null }],
    ['equal lengths of an error', 'HTTP/1.1 500 x\r\ncontent-length: 0, 0\r\n\r\n', { status: 500, keptMs: null }],
    [
      'a length and chunks',
      `${ok}content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      { snippet: 'ab', keptMs: null },
    ],
    [
      'a length and two codings',
      `${ok}content-length: 2\r\ntransfer-encoding: x\r\ntransfer-encoding: chunked\r\n\r\nabc`,
      { keptMs: null },
    ],
    ['a server that closes', `${ok}content-length: 2\r\nConnection: x, Close\r\n\r\nok`, { snippet: 'ok', keptMs: null }],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', { snippet: 'ok', keptMs: null }],
    ['HTTP/1.0 that is kept', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok', { snippet: 'ok', keptMs: open }],
    ['a keep-alive time', `${ok}Keep-Alive: max=9, timeout=5\r\ncontent-length: 0\r\n\r\n`, { keptMs: 5000 }],
    ['Retry-After', 'HTTP/1.1 503 x\r\nretry-after:\t 7 \r\ncontent-length: 0\r\n\r\n', { status: 503, retryAfter: '7' }],
    ['Retry-After twice', 'HTTP/1.1 503 x\r\nretry-after: 7\r\nretry-after: 8\r\ncontent-length: 0\r\n\r\n', { retryAfter: null }],
    ['a compressed body', `${ok}content-encoding: gzip\r\ncontent-length: 2\r\n\r\nok`, { snippet: '', keptMs: open }],
    ['NUL', `${ok}content-length: 3\r\n\r\na\0b`, { snippet: 'ab' }],
  ])('%s', (_name, text, wanted) => {
    for (const pieceBytes of [text.length, 1, 3]) expect(read(text, pieceBytes)).toMatchObject(wanted)
  })

  test('bytes behind the answer end its connection', () => {
    expect(read(`${ok}content-length: 2\r\n\r\nokx`)).toMatchObject({ snippet: 'ok', keptMs: null })
    expect(read(`${chunked}0\r\n\r\nx`)).toMatchObject({ keptMs: null })
    expect(read(`${ok}content-length: 0\r\n\r\n${ok}`)).toMatchObject({ keptMs: null })
  })

  test('a body is read up to its limit, and its snippet has whole characters', () => {
    const long = `${ok}content-length: 100000\r\n\r\n${'x'.repeat(100_000)}`
    expect(read(long, 1000, 5)).toMatchObject({ snippet: 'xxxxx', keptMs: null })
    expect(read(`${ok}content-length: 4\r\n\r\nab\xc3\xbc`, 1, 3)).toMatchObject({ snippet: 'ab', keptMs: open })
  })
})

describe('heads that are refused, in one piece and byte by byte', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a later version', 'HTTP/2 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 99 OK\r\n\r\n'],
    ['line breaks without CR', 'HTTP/1.1 200 OK\ncontent-length: 0\n\r\n\r\n'],
    ['a folded field', `${ok}a: b\r\n c\r\n\r\n`],
    ['a space before the colon', `${ok}content-length : 2\r\n\r\nok`],
    ['NUL in a field', `${ok}a: b\0c\r\n\r\n`],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nx`],
    ['a list of lengths', `${ok}content-length: 1, 2\r\n\r\nx`],
    ['lengths that differ beside chunks', `${ok}content-length: 1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a list with an empty length', `${ok}content-length: 1,\r\n\r\nx`],
    ['an empty length', `${ok}content-length:\r\n\r\n`],
    ['a length that is not a number beside chunks', `${ok}content-length: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a negative length', `${ok}content-length: -1\r\n\r\n`],
    ['an upgrade that was not requested', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['too large fields', `${ok}${`x: ${'y'.repeat(1000)}\r\n`.repeat(20)}\r\n`],
    ['too large fields without an end', `${ok}x: ${'y'.repeat(20_000)}`],
    ['too many interim answers', `HTTP/1.1 103 x\r\nx: ${'y'.repeat(1000)}\r\n\r\n`.repeat(20)],
  ])('%s', (_name, text) => {
    for (const pieceBytes of [text.length, 1]) {
      const reader = new AnswerReader(10)
      const readAll = () => {
        for (let at = 0; at < text.length; at += pieceBytes) reader.read(Buffer.from(text.slice(at, at + pieceBytes), 'latin1'))
      }
      expect(readAll).toThrow(FetchRefused)
      expect(reader.hasStatus).toBe(false)
    }
  })
})

test('names of fields and codings are read in any case', () => {
  expect(readAnswerHead(`${ok}TRANSFER-ENCODING: Chunked\r\n`)).toMatchObject({ body: 'chunked', isKept: true })
})
