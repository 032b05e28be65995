// A QR code as a PNG: one bit a pixel, by hand, because no more than this is needed of the format (PNG specification, W3C 2003).
import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

/** Pixels a module, and the quiet zone in modules that ISO/IEC 18004 asks for. */
const pixelsPerModule = 8
const quietModules = 4

/** The QR code of a text as a PNG. Throws when the text is too long for one. */
export function qrPng(text: string): Buffer {
  const { data, size } = encode(text, { ecc: 'M', border: quietModules })
  const pixels = size * pixelsPerModule
  const rowBytes = Math.ceil(pixels / 8)
  const rows = Buffer.alloc((rowBytes + 1) * pixels)
  for (let y = 0; y < pixels; y++) {
    // The byte before each row says that it is not filtered.
    const start = y * (rowBytes + 1) + 1
    for (let x = 0; x < pixels; x++) {
      const isDark = data[Math.floor(y / pixelsPerModule)]?.[Math.floor(x / pixelsPerModule)] === true
      if (!isDark) rows[start + (x >> 3)]! |= 0x80 >> (x & 7)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels, 0)
  header.writeUInt32BE(pixels, 4)
  // One bit a sample, grey; deflate, the usual filters, not interlaced.
  header.set([1, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Length, type, data, and the CRC over type and data. */
function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(typed.length + 8)
  whole.writeUInt32BE(data.length, 0)
  typed.copy(whole, 4)
  whole.writeUInt32BE(crc32(typed), typed.length + 4)
  return whole
}
