// Whole lists as JSON, by everything that they show.

const bytesMax = 8 * 1024 * 1024
const pageBytesMax = 1024 * 1024

/** The lists that were read last. A key names the versions of all messages, and takes memory as well. */
export class PageCache {
  readonly #pages = new Map<string, Buffer>()
  #bytes = 0

  get(key: string): Buffer | undefined {
    const page = this.#pages.get(key)
    if (page === undefined) return undefined
    this.#pages.delete(key)
    this.#pages.set(key, page)
    return page
  }

  /** Keeps a list of up to 1 MiB. Drops those that were not read for the longest time. */
  keep(key: string, page: Buffer): void {
    this.#drop(key)
    if (page.length > pageBytesMax) return
    this.#pages.set(key, page)
    this.#bytes += page.length + key.length
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const page = this.#pages.get(key)
    if (page === undefined) return
    this.#pages.delete(key)
    this.#bytes -= page.length + key.length
  }
}
