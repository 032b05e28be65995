// Reads server replies for the SMTP client. Lines are joined to replies, with hard limits on both.

/** One reply with its code, its text lines without code and separator, and its enhanced status code (RFC 2034), if any. */
export type ServerReply = { code: number; lines: string[]; enhanced: string | null }

/** The server sent something that is not an SMTP reply, or too much. */
export class ReplyMalformed extends Error {
  override name = 'ReplyMalformed'
}

const lineBytesMax = 4096
const linesMax = 100
const answerCharactersMax = 1000

/** Joins chunks of a connection to replies. A bare LF also ends a line, because some servers send it and it is unambiguous here. */
export class ReplyReader {
  #partial: Buffer[] = []
  #partialBytes = 0
  #code = 0
  #lines: string[] = []

  /** The replies that this chunk completes. Throws ReplyMalformed, after which the connection is unusable. */
  push(chunk: Buffer): ServerReply[] {
    const replies: ServerReply[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const reply = this.#line(this.#take(chunk.subarray(start, end)))
      if (reply) replies.push(reply)
      start = end + 1
    }
    if (start < chunk.length) {
      this.#partialBytes += chunk.length - start
      if (this.#partialBytes > lineBytesMax) throw new ReplyMalformed('a reply line longer than 4096 octets')
      this.#partial.push(chunk.subarray(start))
      // A server that sends one octet per segment must not fill the memory with thousands of buffers.
      if (this.#partial.length > 64) this.#partial = [Buffer.concat(this.#partial)]
    }
    return replies
  }

  /** True between the start and the end of a reply. */
  isInside(): boolean {
    return this.#partialBytes > 0 || this.#lines.length > 0
  }

  #take(end: Buffer): string {
    if (this.#partialBytes + end.length > lineBytesMax) throw new ReplyMalformed('a reply line longer than 4096 octets')
    const line = this.#partialBytes ? Buffer.concat([...this.#partial, end]) : end
    this.#partial = []
    this.#partialBytes = 0
    return line.toString('utf8', 0, line.at(-1) === 13 ? line.length - 1 : line.length)
  }

  #line(line: string): ServerReply | null {
    if (!/^[2-5]\d\d(?:[ -]|$)/.test(line)) throw new ReplyMalformed('a line that is not an SMTP reply')
    const code = Number(line.slice(0, 3))
    if (this.#lines.length && code !== this.#code) throw new ReplyMalformed('a reply whose lines have different codes')
    if (this.#lines.length === linesMax) throw new ReplyMalformed('a reply of more than 100 lines')
    this.#code = code
    this.#lines.push(line.slice(4))
    if (line[3] === '-') return null
    const lines = this.#lines
    this.#lines = []
    return { code, lines, enhanced: enhancedCode(code, lines[0] as string) }
  }
}

/** The enhanced status code at the start of a reply's text. One whose class differs from the reply's is ignored (RFC 2034 §4). */
function enhancedCode(code: number, text: string): string | null {
  const match = /^([245])\.(\d{1,3})\.(\d{1,3})(?: |$)/.exec(text)
  return match && Number(match[1]) === Math.floor(code / 100) ? `${match[1]}.${Number(match[2])}.${Number(match[3])}` : null
}

/** A reply as one line for records, with code and text, without control characters, and at most 1000 characters. */
export function replyText(reply: ServerReply): string {
  const text = `${reply.code} ${reply.lines.join(' ')}`
  // Text of a server must not control a terminal or break a log line.
  return text
    .slice(0, answerCharactersMax)
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .trimEnd()
}
