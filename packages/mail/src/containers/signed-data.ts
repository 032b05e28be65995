// Opens signed data of CMS (RFC 5652 §5), as opaque S/MIME has it (RFC 8551 §3.5.2). The signature is not verified.

/** The content that is signed, `encrypted` for data that only its recipient can read, or null for other bytes. */
export type SignedContent = Buffer | 'encrypted' | null

const SEQUENCE = 0x30
const OBJECT_ID = 0x06
const CONTENT = 0xa0
const OCTETS = 0x04
const CONSTRUCTED_OCTETS = 0x24

const signedDataId = Buffer.from('2a864886f70d010702', 'hex')
/** Enveloped, encrypted and authenticated enveloped data. */
const closedIds = ['2a864886f70d010703', '2a864886f70d010706', '2a864886f70d0109100117'].map((id) => Buffer.from(id, 'hex'))

/** Elements that are looked at, nesting of indefinite lengths, and nesting of constructed strings. */
const ELEMENTS_MAX = 1_000_000
const DEPTH_MAX = 20

/** The content of signed data in BER or DER. Linear, never throws. */
export function readSignedContent(bytes: Buffer): SignedContent {
  const reader = new BerReader(bytes)
  const signed = readSignedInfo(bytes, reader)
  if (signed === null || signed === 'encrypted') return signed
  const [octets = null] = reader.childrenOf(signed[1] ?? null, CONTENT, 1) ?? []
  return octets === null ? null : reader.octetsOf(octets)
}

/** True for signed data without its content, as the signature beside a signed part is (RFC 8551 §3.5.3). */
export function isDetachedSignature(bytes: Buffer): boolean {
  const signed = readSignedInfo(bytes, new BerReader(bytes))
  return signed !== null && signed !== 'encrypted' && signed.length === 1
}

/** The type of the content of signed data, and the content unless it is elsewhere. */
function readSignedInfo(bytes: Buffer, reader: BerReader): Element[] | 'encrypted' | null {
  const info = reader.childrenOf(reader.read(0, bytes.length), SEQUENCE, 2)
  const id = info?.[0]
  if (info === null || id?.tag !== OBJECT_ID) return null
  const name = bytes.subarray(id.start, id.end)
  if (closedIds.some((closed) => closed.equals(name))) return 'encrypted'
  if (!name.equals(signedDataId)) return null
  const [data = null] = reader.childrenOf(info[1] ?? null, CONTENT, 1) ?? []
  // Version, digest algorithms, content.
  return reader.childrenOf(reader.childrenOf(data, SEQUENCE, 3)?.[2] ?? null, SEQUENCE, 2)
}

type Element = { tag: number; start: number; end: number; next: number }

class BerReader {
  readonly #bytes: Buffer
  #elements = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The element at `at`, or null when it is damaged. An indefinite length ends at its end mark. */
  read(at: number, limit: number, depth = 0): Element | null {
    const bytes = this.#bytes
    if (++this.#elements > ELEMENTS_MAX || depth > DEPTH_MAX || at + 2 > limit) return null
    const tag = bytes[at]!
    const length = bytes[at + 1]!
    // A tag of several bytes does not occur here.
    if ((tag & 0x1f) === 0x1f) return null
    if (length === 0x80) return this.#readIndefinite(tag, at + 2, limit, depth)
    const lengthBytes = length < 0x80 ? 0 : length & 0x7f
    if (lengthBytes > 4 || at + 2 + lengthBytes > limit) return null
    const size = lengthBytes === 0 ? length : bytes.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    return size > limit - start ? null : { tag, start, end: start + size, next: start + size }
  }

  #readIndefinite(tag: number, start: number, limit: number, depth: number): Element | null {
    for (let at = start; ; ) {
      if (this.#bytes[at] === 0 && this.#bytes[at + 1] === 0 && at + 2 <= limit) return { tag, start, end: at, next: at + 2 }
      const child = this.read(at, limit, depth + 1)
      if (child === null) return null
      at = child.next
    }
  }

  /** The first `count` children of an element with this tag. Null without an element, or for another tag. */
  childrenOf(parent: Element | null, tag: number, count: number): Element[] | null {
    if (parent?.tag !== tag) return null
    const children: Element[] = []
    for (let at = parent.start; at < parent.end && children.length < count; ) {
      const child = this.read(at, parent.end)
      if (child === null) return null
      children.push(child)
      at = child.next
    }
    return children
  }

  /** The bytes of a string, whose pieces are joined. */
  octetsOf(element: Element, depth = 0): Buffer | null {
    if (element.tag === OCTETS) return this.#bytes.subarray(element.start, element.end)
    if (element.tag !== CONSTRUCTED_OCTETS || depth > DEPTH_MAX) return null
    const pieces: Buffer[] = []
    for (let at = element.start; at < element.end; ) {
      const child = this.read(at, element.end)
      const piece = child && this.octetsOf(child, depth + 1)
      if (child === null || piece === null) return null
      pieces.push(piece)
      at = child.next
    }
    return Buffer.concat(pieces)
  }
}
