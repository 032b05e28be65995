// Unpacks the files of reports, which are plain, gzip or ZIP, perhaps one in another, within limits.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { openArchive } from '../formats/archive.ts'
import { Unreadable } from '../formats/unreadable.ts'

/** Reports of the largest senders have about 1 MB. */
export const unpackedBytesMax = 8 * 1024 * 1024
/** A report archive has one file. Some have a folder or a signature as well. */
const entriesMax = 8

const unzip = promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Archives in one another. */
const layersMax = 2

/** The bytes of a report file: as they are, out of gzip, or of the first file in a ZIP archive, up to two layers deep. Throws above the limits. */
export async function unpack(file: Buffer): Promise<Buffer> {
  let bytes = file
  for (let layer = 0; layer < layersMax && isPacked(bytes); layer++) bytes = await unpackLayer(bytes)
  if (bytes.length > unpackedBytesMax) throw tooLarge()
  return bytes
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
const isPacked = (bytes: Buffer): boolean => isGzip(bytes) || bytes.toString('latin1', 0, 4) === 'PK\x03\x04'

const unpackLayer = (bytes: Buffer): Promise<Buffer> =>
  isGzip(bytes) ? unzip(bytes, { maxOutputLength: unpackedBytesMax }) : firstFile(bytes)

async function firstFile(bytes: Buffer): Promise<Buffer> {
  const archive = await openArchive(bytes)
  const names = archive.names()
  const name = names.find((one) => !one.endsWith('/'))
  if (name === undefined || names.length > entriesMax) throw new Unreadable('not_supported', 'the archive does not hold one report')
  const chunks: Buffer[] = []
  let size = 0
  // The size that the archive declares may be wrong.
  for await (const chunk of archive.read(name)) {
    size += chunk.length
    if (size > unpackedBytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = () => new Unreadable('too_complex', `the report unpacks to more than ${unpackedBytesMax} bytes`)
