// The body of an answer on its way out to the visitor.
import { crumbBytesMax, GatheredBytes } from './buffered-bytes.ts'
import { joinedBytesMax, type VisitorResponse } from './public-response.ts'

export class AnswerBody {
  readonly #response: VisitorResponse
  /** What came in crumbs while the visitor took nothing. */
  readonly #crumbs = new GatheredBytes()
  /** The head has gone out, alone or with the first bytes behind it. */
  #isFlushed = false

  constructor(response: VisitorResponse) {
    this.#response = response
  }

  /** Bytes, which are the last when `isLast`. */
  write(piece: Buffer, isLast: boolean): void {
    if (!isLast && piece.length <= crumbBytesMax && this.#response.writableNeedDrain) {
      this.#crumbs.add(piece)
      return
    }
    this.#writeCrumbs()
    // As text a small body goes out with its head in one piece.
    if (isLast && !this.#isFlushed && piece.length <= joinedBytesMax) this.#response.end(piece.toString('latin1'), 'latin1')
    else if (isLast) this.#response.end(piece)
    else this.#response.write(piece)
    this.#isFlushed = true
  }

  /** Lets the head go, if nothing has taken it along. */
  flush(): void {
    if (this.#isFlushed) return
    this.#isFlushed = true
    this.#response.flushHeaders()
  }

  /** The visitor takes bytes again; true when it has room for more than what waited. */
  resume(): boolean {
    this.#writeCrumbs()
    return !this.#response.writableNeedDrain
  }

  end(trailers: [string, string][]): void {
    this.#writeCrumbs()
    if (this.#response.writableEnded) return
    if (trailers.length > 0) this.#response.addTrailers(trailers)
    this.#response.end()
  }

  #writeCrumbs(): void {
    if (this.#crumbs.size > 0 && !this.#response.writableEnded) this.#response.write(this.#crumbs.take())
  }
}
