// Reads XML of office files and reports as a stream of elements, without a tree.
import { StringDecoder } from 'node:string_decoder'
import sax from 'sax'
import type { Archive } from './archive.ts'
import { Unreadable } from './unreadable.ts'

const depthMax = 500

/** An attribute by its local name, or undefined. */
export type Attributes = (name: string) => string | undefined

export type XmlHandler = {
  /** Names are local, without their namespace prefix. */
  open?(name: string, attributes: Attributes): void
  close?(name: string): void
  text?(text: string): void
  /** Checked between chunks. True ends the reading. */
  isDone?(): boolean
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Reads one part of an archive. A part with a document type is rejected, because entities are declared there. */
export const readXml = (archive: Archive, part: string, handler: XmlHandler): Promise<void> => parseXml(archive.read(part), part, handler)

/** Reads the bytes of `part`, as `readXml` does. */
export async function parseXml(chunks: AsyncIterable<Buffer>, part: string, handler: XmlHandler): Promise<void> {
  // Without positions the parser does not check the length of its buffers.
  const parser = sax.parser(true, { position: true })
  let depth = 0
  let failure: Error | null = null
  parser.onerror = (error) => {
    failure ??= error
  }
  parser.ondoctype = () => {
    failure ??= new Unreadable('damaged', `${part} has a document type`)
  }
  parser.onopentag = ({ name, attributes }) => {
    if (++depth > depthMax) throw new Unreadable('too_complex', `${part} nests elements deeper than ${depthMax}`)
    handler.open?.(localName(name), (wanted) => attributeOf(attributes as Record<string, string>, wanted))
  }
  parser.onclosetag = (name) => {
    depth--
    handler.close?.(localName(name))
  }
  parser.ontext = (text) => handler.text?.(text)
  parser.oncdata = (text) => handler.text?.(text)

  const decoder = new StringDecoder('utf8')
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && (chunk[0] === 0xff || chunk[0] === 0xfe)) throw new Unreadable('not_supported', `${part} is UTF-16`)
    const text = decoder.write(chunk)
    parser.write(isFirst ? text.replace(/^\ufeff/, '') : text)
    isFirst = false
    if (failure !== null) throw failure
    if (handler.isDone?.()) return
  }
  if (depth !== 0) throw new Unreadable('damaged', `${part} ends in the middle`)
}

function attributeOf(attributes: Record<string, string>, wanted: string): string | undefined {
  for (const [name, value] of Object.entries(attributes)) if (localName(name) === wanted) return value
  return undefined
}
