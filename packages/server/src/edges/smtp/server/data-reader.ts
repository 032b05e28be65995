// Reads message data. Finds CRLF.CRLF, removes dot stuffing, and refuses everything that another server could read differently.
import { octetsBelow, type Words, wordsOf } from '@callsign/mail/text/word-scan'
import type { Share } from '../../../core/byte-budget.ts'
import type { Limits } from './limits.ts'
import { MessageBuffer } from './message-buffer.ts'
import { replies, type SmtpReply } from './reply.ts'
import type { Spool } from './spool.ts'

type DataLimits = Pick<Limits, 'headerBytesMax' | 'headerLinesMax' | 'hopsMax' | 'lineBytesMax' | 'discardBytesMax'> & {
  sizeBytesMax: number
}

/**
 * `end` means that CRLF.CRLF was read, and `refusal` is set when the message cannot be accepted. `unsafe` means a bare CR, bare LF or NUL,
 * with the reply in `refusal`. Nothing after it can be trusted.
 * `abort` means that the refused message exceeds the amount worth reading.
 */
export type DataProgress = 'more' | 'end' | 'unsafe' | 'abort'

const lineStart = 0
/** In the name of a header field. */
const fieldName = 1
const inLine = 2
const afterCr = 3
/** After a dot at the start of a line. */
const afterDot = 4
const afterDotCr = 5

const cr = 13
const lf = 10
const dot = 46
const space = 32
const tab = 9
const colon = 58
const received = Buffer.from('received')
/** The octets with a meaning inside a line are below 14, so most take one comparison. */
const isPlain = (byte: number): boolean => byte > cr || (byte !== cr && byte !== lf && byte !== 0)

/** Index of the first octet in chunk[from, to) that is not plain, or `to`. */
function skipPlain(chunk: Buffer, { words, skew }: Words, from: number, to: number): number {
  let index = from
  for (; index < to && (index + skew) % 4 !== 0; index++) if (!isPlain(chunk[index] as number)) return index
  const end = (to + skew) >> 2
  let word = (index + skew) >> 2
  for (; word < end; word++) {
    if (octetsBelow(words[word] as number, cr + 1) !== 0) break
  }
  index = Math.max(index, word * 4 - skew)
  while (index < to && isPlain(chunk[index] as number)) index++
  return index
}

/** Closes the gap of `by` octets before chunk[from, to). For short moves a loop is cheaper than a native call. */
function moveBack(chunk: Buffer, from: number, to: number, by: number): void {
  if (to - from > 32) chunk.copyWithin(from - by, from, to)
  else for (let index = from; index < to; index++) chunk[index - by] = chunk[index] as number
}

/** Mail programs do not write longer names. A longer run without a colon is body. */
const fieldNameBytesMax = 998

/**
 * Reads messages in sequence on one connection. Every decision depends on the position of a byte in the stream and never on the end of a
 * chunk.
 * Cost is linear: one pass over each chunk, moving the bytes after a stuffed dot, and one copy.
 */
export class DataReader {
  /** The reason to refuse the message, or null. The first reason is kept, but `unsafe` overrides it. */
  refusal: SmtpReply | null = null
  /** Index in the last chunk after the last octet that belongs to the message. */
  consumed = 0

  readonly #limits: DataLimits
  readonly #message: MessageBuffer
  #state = lineStart
  /** Octets of the message so far, without stuffed dots. */
  #total = 0
  /** Octets of the current line in earlier chunks. */
  #lineLength = 0
  #inHeader = true
  /** Number of lines started in the header, including the one after its last line. */
  #linesBegun = 0
  #hops = 0
  #nameLength = 0
  #isReceived = true
  #discardLeft = 0
  /** Index in the chunk from which discarded octets are counted. */
  #discardFrom = 0

  constructor(limits: DataLimits, budget: Share, spool: Spool | null) {
    this.#limits = limits
    this.#message = new MessageBuffer(budget, spool)
  }

  /** Starts the next message. */
  start(): void {
    this.clear()
    this.refusal = null
    this.#state = lineStart
    this.#total = 0
    this.#lineLength = 0
    this.#inHeader = true
    this.#linesBegun = 0
    this.#hops = 0
  }

  /** The message, after `end` without a refusal, or null when no memory is free within `waitMs`. Counts in the budget until `clear`. */
  take(waitMs: number): Buffer | Promise<Buffer | null> {
    if (this.#message.spooledBytes === 0) return this.#message.take()
    return this.#message.claimMemory(waitMs).then((isClaimed) => (isClaimed ? this.#message.take() : null))
  }

  /** Releases the memory. */
  clear(): void {
    this.#message.clear()
  }

  /** Reads on from `start`. Stuffed dots are closed up inside the chunk, so its read part is overwritten. */
  feed(chunk: Buffer, start: number): DataProgress {
    const { lineBytesMax, sizeBytesMax, headerBytesMax } = this.#limits
    this.#discardFrom = start
    // A refused message is read only up to its allowance.
    let end = this.refusal === null ? chunk.length : Math.min(chunk.length, start + this.#discardLeft)
    let state = this.#state
    /** Octets of this chunk outside the message, which are stuffed dots and the dot and CR of its end. */
    let removed = 0
    /** Start of the bytes after the last of them, which still have to move back by `removed`. */
    let run = start
    /** Start of the line, negative when in an earlier chunk. */
    let line = start - this.#lineLength
    let index = start
    // Most chunks cannot reach a limit with any content.
    const length = end - start
    const isNearLimit =
      this.#lineLength + length > lineBytesMax ||
      this.#total + length > (this.#inHeader ? Math.min(headerBytesMax, sizeBytesMax) : sizeBytesMax)

    const scan = wordsOf(chunk)

    while (index < end) {
      const byte = chunk[index] as number
      if (state === inLine) {
        let stop = end
        if (isNearLimit && this.refusal === null) {
          const bytesMax = this.#inHeader ? Math.min(headerBytesMax, sizeBytesMax) : sizeBytesMax
          stop = Math.min(stop, line + lineBytesMax, start + removed + bytesMax - this.#total)
        }
        index = skipPlain(chunk, scan, index, stop)
        if (index === end) break
        const found = chunk[index] as number
        if (found === cr) {
          index++
          state = afterCr
          // The same step as for afterCr below, inlined for speed.
          if (index < end && chunk[index] === lf) {
            index++
            line = index
            state = lineStart
          }
        } else if (found === lf || found === 0) return this.#unsafe(found)
        else {
          end = this.#refuse(this.#limitReached(index - removed - start), chunk, index)
        }
      } else if (state === afterCr) {
        if (byte !== lf) return this.#unsafe(byte)
        index++
        line = index
        state = lineStart
      } else if (state === lineStart) {
        if (isNearLimit || this.#inHeader) {
          const reason = this.#lineRefusal(index - removed - start)
          if (reason) end = this.#refuse(reason, chunk, index)
        }
        if (byte === dot) {
          if (removed > 0) moveBack(chunk, run, index, removed)
          removed++
          index++
          run = index
          // In the body a dot before anything but CR is stuffing. This step is inlined for speed.
          state = !this.#inHeader && index < end && chunk[index] !== cr ? inLine : afterDot
        } else state = this.#lineState(byte)
      } else if (state === afterDot) {
        if (byte === cr) {
          removed++
          index++
          run = index
          state = afterDotCr
        } else state = this.#lineState(byte)
      } else if (state === fieldName) {
        const isNameByte = this.#readNameByte(byte)
        if (isNameByte) index++
        else state = inLine
        if (this.#hops > this.#limits.hopsMax && this.refusal === null) end = this.#refuse(replies.tooManyHops, chunk, index)
      } else {
        if (byte !== lf) return this.#unsafe(byte)
        this.consumed = index + 1
        if (!this.#pass(chunk, start, index - removed)) this.#refuse(replies.memoryFull, chunk, index)
        return 'end'
      }
    }

    this.consumed = end
    this.#state = state
    this.#lineLength = end - line
    if (this.refusal !== null) {
      if (end < chunk.length) return 'abort'
      this.#discardLeft -= end - this.#discardFrom
    } else {
      if (removed > 0) moveBack(chunk, run, end, removed)
      if (!this.#pass(chunk, start, end - removed)) this.#refuse(replies.memoryFull, chunk, end)
    }
    return 'more'
  }

  #pass(chunk: Buffer, from: number, to: number): boolean {
    if (this.refusal !== null) return true
    this.#total += to - from
    return this.#message.append(chunk, from, to)
  }

  /** The first octet of a line decides whether it is a header field, a folded line or body. */
  #lineState(byte: number): number {
    if (!this.#inHeader) return inLine
    if (byte === space || byte === tab) {
      if (this.#linesBegun === 1) this.#inHeader = false
      return inLine
    }
    this.#nameLength = 0
    this.#isReceived = true
    return fieldName
  }

  /** True while the octet belongs to a field's name or is its colon. A line without a colon ends the header, as does an empty one. */
  #readNameByte(byte: number): boolean {
    const length = this.#nameLength
    if (byte === colon && length > 0) {
      if (this.#isReceived && length === received.length) this.#hops++
      // After the name only a colon is expected.
      this.#nameLength = 0
      return false
    }
    if (byte <= space || byte >= 127 || byte === colon || length === fieldNameBytesMax) {
      this.#inHeader = false
      return false
    }
    if (length >= received.length || (byte | 32) !== received[length]) this.#isReceived = false
    this.#nameLength++
    return true
  }

  /** The refusal when the line that starts now exceeds a limit, or null. */
  #lineRefusal(pending: number): SmtpReply | null {
    if (this.refusal !== null) return null
    if (this.#total + pending > this.#limits.sizeBytesMax) return replies.messageTooBig
    return this.#inHeader && ++this.#linesBegun > this.#limits.headerLinesMax + 1 ? replies.headerTooBig : null
  }

  #limitReached(pending: number): SmtpReply {
    const total = this.#total + pending
    if (total >= this.#limits.sizeBytesMax) return replies.messageTooBig
    return this.#inHeader && total >= this.#limits.headerBytesMax ? replies.headerTooBig : replies.dataLineTooLong
  }

  /** Stores the reason, releases the memory, and returns the end of reading in this chunk. */
  #refuse(reply: SmtpReply, chunk: Buffer, index: number): number {
    this.refusal = reply
    this.#message.clear()
    this.#discardLeft = this.#limits.discardBytesMax
    this.#discardFrom = index
    return Math.min(chunk.length, index + this.#discardLeft)
  }

  #unsafe(byte: number): DataProgress {
    this.refusal = byte === 0 ? replies.nulByte : replies.bareLineEnd
    this.#message.clear()
    return 'unsafe'
  }
}
