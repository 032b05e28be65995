// Draws a QR code as a 1-bit greyscale PNG. The few chunks it needs are written here (W3C PNG, 2003) instead of with a library.
import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

/** Pixels per module, and the quiet zone in modules that ISO/IEC 18004 requires. */
const pixelsPerModule = 8
const quietModules = 4

/** Renders a text as a QR code in PNG. Throws when the text is too long. */
export function qrPng(text: string): Buffer {
  const { data, size } = encode(text, { ecc: 'M', border: quietModules })
  const pixels = size * pixelsPerModule
  const rowBytes = Math.ceil(pixels / 8)
  const rows = Buffer.alloc((rowBytes + 1) * pixels)
  for (let y = 0; y < pixels; y++) {
    // The byte before each row is the filter type: 0 is none.
    const start = y * (rowBytes + 1) + 1
    for (let x = 0; x < pixels; x++) {
      const isDark = data[Math.floor(y / pixelsPerModule)]?.[Math.floor(x / pixelsPerModule)] === true
      if (!isDark) rows[start + (x >> 3)]! |= 0x80 >> (x & 7)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels, 0)
  header.writeUInt32BE(pixels, 4)
  // 1 bit per sample, greyscale, deflate, adaptive filtering, not interlaced.
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
