// Decompresses the RTF of Outlook (MS-OXRTFCP).

const COMPRESSED = 0x75465a4c
const UNCOMPRESSED = 0x414c454d
const HEADER_BYTES = 16
const WINDOW_BYTES = 4096

/** The first content of the window (MS-OXRTFCP §2.2.2.1). */
const INITIAL =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

/** The RTF, or null for other bytes. Gives at most the size that the header declares, and `bytesMax`. */
export function decompressRtf(bytes: Buffer, bytesMax: number): Buffer | null {
  if (bytes.length < HEADER_BYTES) return null
  const kind = bytes.readUInt32LE(8)
  const size = Math.min(bytes.readUInt32LE(4), bytesMax)
  if (kind === UNCOMPRESSED) return bytes.subarray(HEADER_BYTES, HEADER_BYTES + size)
  return kind === COMPRESSED ? decompress(bytes, size) : null
}

function decompress(bytes: Buffer, size: number): Buffer {
  const window = Buffer.alloc(WINDOW_BYTES)
  let position = window.write(INITIAL, 'latin1')
  const chunks: Buffer[] = []
  let chunk = Buffer.allocUnsafe(Math.min(size, 64 * 1024))
  let used = 0
  let total = 0
  const write = (byte: number): void => {
    if (used === chunk.length) {
      chunks.push(chunk)
      chunk = Buffer.allocUnsafe(64 * 1024)
      used = 0
    }
    chunk[used++] = byte
    window[position] = byte
    position = (position + 1) % WINDOW_BYTES
    total++
  }
  let at = HEADER_BYTES
  reading: while (at < bytes.length && total < size) {
    // Each bit of a control byte announces a byte, or a reference of two bytes into the window.
    const control = bytes[at++]!
    for (let bit = 0; bit < 8 && at < bytes.length && total < size; bit++) {
      if ((control & (1 << bit)) === 0) {
        write(bytes[at++]!)
        continue
      }
      if (at + 2 > bytes.length) break reading
      const reference = bytes.readUInt16BE(at)
      at += 2
      const offset = reference >> 4
      if (offset === position) break reading
      const length = (reference & 0xf) + 2
      for (let index = 0; index < length && total < size; index++) write(window[(offset + index) % WINDOW_BYTES]!)
    }
  }
  chunks.push(chunk.subarray(0, used))
  return Buffer.concat(chunks)
}
