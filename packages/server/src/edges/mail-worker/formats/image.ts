// Reads the metadata of images as a Markdown list. Pixels are not decoded.
import ExifReader from 'exifreader'
import type { BoundedText } from './bounded-text.ts'
import { Unreadable } from './unreadable.ts'

const tagsMax = 60
const valueCharactersMax = 2_000

/** Groups of tags that describe the picture, in the order of the text. */
const groups = ['file', 'pngFile', 'riff', 'jfif', 'exif', 'iptc', 'pngText', 'gif', 'gps'] as const

/** Tags for programs only. */
const left =
  /^(?:MakerNote|UserComment Encoding|Thumbnail|Offset|Exif IFD Pointer|GPS Info IFD Pointer|Interoperability|Image Hash|.*IFD Pointer)/i

type Group = Record<string, { description?: unknown } | number | undefined>

export function readImage(bytes: Buffer, name: string, out: BoundedText): void {
  out.write(`# ${name} image\n\n`)
  // Metadata in XML is left out, because its parser builds a tree.
  const tags = readTags(bytes) as Record<string, Group | undefined>
  let written = 0
  for (const group of groups) {
    for (const [tag, value] of Object.entries(tags[group] ?? {})) {
      const text = textOf(value)
      if (text === '' || left.test(tag) || ++written > tagsMax) continue
      out.write(
        `- ${tag
          .slice(0, 100)
          .replace(/([a-z])([A-Z])/g, '$1 $2')
          .replace(/\s+/g, ' ')}: ${text}\n`,
      )
    }
  }
}

function readTags(bytes: Buffer) {
  try {
    return ExifReader.load(bytes, {
      expanded: true,
      async: false,
      excludeTags: { xmp: true, icc: true, mpf: true, makerNotes: true, thumbnail: true },
    })
  } catch (error) {
    throw new Unreadable('damaged', error instanceof Error ? error.message : 'the image cannot be read')
  }
}

function textOf(value: Group[string]): string {
  const described = typeof value === 'object' ? value.description : value
  if (typeof described !== 'string' && typeof described !== 'number') return ''
  return String(described).slice(0, valueCharactersMax).replace(/\s+/g, ' ').trim()
}
