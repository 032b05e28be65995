// Finds the text of a message whose own bodies are empty: in TNEF, in signed data, or in a calendar.
import { readSignedContent } from '../containers/signed-data.ts'
import { readTnef } from '../containers/tnef.ts'
import { htmlToText } from '../html/text.ts'
import { TEXT_CHARACTERS_MAX, withoutLastLineEnds } from './bodies.ts'
import { calendarToText } from './calendar-text.ts'
import { decodeText } from './charsets.ts'
import { charsetOf, type Leaf } from './parts.ts'
import { cutText, storableText, unifyLineEnds } from './storable-text.ts'
import { decodeBody } from './transfer-encoding.ts'

export type Bodies = { text: string | null; html: string | null }

/** Containers that are opened per message. */
const CONTAINERS_MAX = 3
const CALENDAR_BYTES_MAX = 256 * 1024

const TNEF_TYPE = /^application\/(?:vnd\.)?ms-tnef$/
const SIGNED_TYPE = /^application\/(?:x-)?pkcs7-mime$/

/** The first text in a container or a calendar. Null without one. `parse` reads the message inside signed data. */
export function findEnclosedBodies(raw: Buffer, leaves: readonly Leaf[], parse: (inner: Buffer) => Bodies): Bodies | null {
  let opened = 0
  for (const leaf of leaves) {
    const isTnef = TNEF_TYPE.test(leaf.contentType)
    if (!isTnef && !SIGNED_TYPE.test(leaf.contentType)) continue
    if (++opened > CONTAINERS_MAX) break
    const bytes = decodeBody(raw, leaf.start, leaf.end, leaf.encoding, leaf.end - leaf.start)
    const found = isTnef ? readTnefBodies(bytes) : readSignedBodies(bytes, parse)
    if (found !== null) return found
  }
  const calendar = leaves.find(({ contentType }) => contentType === 'text/calendar' || contentType === 'application/ics')
  if (calendar === undefined) return null
  const bytes = decodeBody(raw, calendar.start, calendar.end, calendar.encoding, CALENDAR_BYTES_MAX)
  const text = calendarToText(toText(decodeText(bytes, charsetOf(calendar)).text))
  return text === '' ? null : { text, html: null }
}

function readTnefBodies(bytes: Buffer): Bodies | null {
  const content = readTnef(bytes)
  if (content === null) return null
  const html = content.html === null ? null : toText(content.html)
  const text = toText(content.text ?? (html === null ? '' : htmlToText(html)))
  return text.trim() === '' && html === null ? null : { text, html }
}

function readSignedBodies(bytes: Buffer, parse: (inner: Buffer) => Bodies): Bodies | null {
  const content = readSignedContent(bytes)
  if (content === null || content === 'encrypted') return null
  const { text, html } = parse(content)
  return text === null && html === null ? null : { text, html }
}

const toText = (text: string): string => withoutLastLineEnds(cutText(unifyLineEnds(storableText(text)), TEXT_CHARACTERS_MAX))
