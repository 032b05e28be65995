// Captured bodies, requests and their changes as text.

import type { TunnelRequest } from '@callsign/sdk'
import { FieldError } from '../../elements/field-error.ts'

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/** The text of a body, or null for bytes that are not UTF-8. The last character of a cut body may be missing. */
export function textOf(base64: string, isCut = false): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(base64), { stream: isCut })
  } catch {
    return null
  }
}

export const toBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))

export type Body =
  | { kind: 'json' | 'markup' | 'text'; text: string }
  | { kind: 'form'; fields: [string, string][] }
  | { kind: 'bytes'; size: number }

/** A body in its readable form: JSON and markup indented, forms as fields, other text unchanged. */
export function readBody(base64: string, contentType: string, isCut = false): Body {
  const text = textOf(base64, isCut)
  if (text === null) return { kind: 'bytes', size: bytesOf(base64).length }
  if (/\bx-www-form-urlencoded\b/i.test(contentType)) return { kind: 'form', fields: [...new URLSearchParams(text)] }
  if (/[/+]json\b/i.test(contentType) || /^\s*[[{]/.test(text)) {
    const pretty = indentedJson(text)
    if (pretty !== null) return { kind: 'json', text: pretty }
  }
  if (/[/+](xml|html)\b/i.test(contentType)) return { kind: 'markup', text: indentedMarkup(text) }
  return { kind: 'text', text }
}

function indentedJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

const voidElement = /^<(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|!|\?)|\/>$/i

/** One tag per line, indented by depth. An element with text alone stays on its line. */
function indentedMarkup(text: string): string {
  const tokens = text.match(/<[^>]*>|[^<]+/g)?.map((token) => token.trim()) ?? []
  const lines: string[] = []
  let depth = 0
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as string
    if (token === '') continue
    if (token.startsWith('</')) depth = Math.max(0, depth - 1)
    const [inner, end] = [tokens[index + 1] ?? '', tokens[index + 2] ?? '']
    const isLeaf = token.startsWith('<') && !token.startsWith('</') && !inner.startsWith('<') && end.startsWith('</')
    lines.push('  '.repeat(depth) + (isLeaf ? token + inner + end : token))
    if (isLeaf) index += 2
    else if (token.startsWith('<') && !token.startsWith('</') && !voidElement.test(token)) depth++
  }
  return lines.join('\n')
}

export const headerOf = (headers: [string, string][] | null, wanted: string): string =>
  headers?.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''

/** Headers that a client sets by itself. */
const leftOut = /^(host|content-length|connection|transfer-encoding|accept-encoding|x-forwarded-.*|forwarded)$/i

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * The same request to the public URL as a curl command. `-g` keeps brackets and braces of the URL, `--path-as-is` its dot segments. curl reads
 * `Name:` as the removal of a header, and `Name;` as one without a value.
 */
export function curlOf(publicUrl: string, { method, path, request_body, request_headers }: TunnelRequest): string {
  const body = request_body === null ? null : textOf(request_body)
  const asIs = /\/\.{1,2}(?:[/?]|$)/.test(path) ? ' --path-as-is' : ''
  const verb = method === 'GET' && !body ? '' : method === 'HEAD' ? ' -I' : ` -X ${method}`
  const lines = [
    `curl -g${asIs}${verb} ${quoted(`${publicUrl.replace(/\/$/, '')}${path}`)}`,
    ...(request_headers ?? [])
      .filter(([name]) => !leftOut.test(name))
      .map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(body ? [`--data-raw ${quoted(body)}`] : []),
  ]
  return lines.join(' \\\n  ')
}

/** The headers that a person edits, one per line. Those that frame the request are left out, because the server writes them. */
export const toHeaderLines = (headers: [string, string][] | null): string =>
  (headers ?? [])
    .filter(([name]) => !/^(content-length|transfer-encoding|connection|x-forwarded-.*|forwarded)$/i.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Reads lines of headers. Throws an error that names the first line without a colon. */
export function readHeaderLines(text: string): [string, string][] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      if (colon < 1) throw new FieldError('/headers', `The header line "${line.trim().slice(0, 60)}" has no colon. Write Name: value.`)
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    })
}
