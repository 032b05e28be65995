// Common options of commands that write mail, for recipients, text, attachments and the idempotency key.
import { basename, extname } from 'node:path'
import { type Context, count, type Option, several, text, type Values } from '../../command.ts'
import { readBytes } from '../../session/files.ts'
import { UsageError } from '../../usage-error.ts'

export const recipientOptions: Record<'to' | 'cc' | 'bcc', Option> = {
  to: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A recipient. Repeatable.' },
  cc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A CC recipient. Repeatable.' },
  bcc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A BCC recipient. Repeatable.' },
}

export const bodyOptions: Record<string, Option> = {
  text: { type: 'string', value: 'TEXT', about: 'The text.' },
  'text-file': { type: 'string', value: 'FILE', about: 'A file with the text, - for standard input.' },
  'html-file': { type: 'string', value: 'FILE', about: 'A file with the HTML. Without a text, the server derives one.' },
}

export const fromOption: Record<'from', Option> = {
  from: {
    type: 'string',
    value: 'ADDRESS',
    about: 'The author: an address of the agent, with or without a name. Defaults to its primary address.',
  },
}

export const attachOption: Record<string, Option> = {
  attach: { type: 'string', multiple: true, value: 'FILE', about: 'A file to attach. Repeatable.' },
}

export const keyOption: Record<string, Option> = {
  'idempotency-key': {
    type: 'string',
    value: 'KEY',
    about: 'A key that makes the request safe to repeat. The message is sent once per key.',
  },
}

/** The given text and HTML. Parts that are not given are absent. */
export async function readBody({ input }: Context, values: Values): Promise<{ text?: string; html?: string }> {
  const file = text(values, 'text-file')
  const htmlFile = text(values, 'html-file')
  if (file !== undefined && text(values, 'text') !== undefined)
    throw new UsageError('--text and --text-file are mutually exclusive. Give one of them.')
  const body = file !== undefined ? await input.file(file) : text(values, 'text')
  return { ...(body !== undefined && { text: body }), ...(htmlFile !== undefined && { html: await input.file(htmlFile) }) }
}

/** The given author. */
export function readFrom(values: Values): { from?: string } {
  const from = text(values, 'from')
  return from === undefined ? {} : { from }
}

/** The given CC and BCC recipients. */
export function readCopies(values: Values): { cc?: string[]; bcc?: string[] } {
  const [cc, bcc] = [several(values, 'cc'), several(values, 'bcc')]
  return { ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) }
}

const typesByExtension: Record<string, string> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.zip': 'application/zip',
}

export type AttachedFile = { filename: string; content_type: string; content: string }

/** The files of --attach in base64. */
export async function readAttachments(values: Values): Promise<{ attachments?: AttachedFile[] }> {
  const paths = several(values, 'attach')
  const attachments = await Promise.all(
    paths.map(async (path) => ({
      filename: basename(path),
      content_type: typesByExtension[extname(path).toLowerCase()] ?? 'application/octet-stream',
      content: (await readBytes(path)).toString('base64'),
    })),
  )
  return attachments.length > 0 ? { attachments } : {}
}

/** The request's options with the Idempotency-Key from the command line. */
export function keyed(values: Values): { idempotencyKey?: string } {
  const idempotencyKey = text(values, 'idempotency-key')
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}

/** Options of commands on one version of a draft. */
export const versionOption: Record<string, Option> = {
  version: { type: 'string', value: 'N', about: 'Fail unless this is the current version.' },
}

/** The given version. */
export const atVersion = (values: Values): { version?: number } => {
  const version = count(values, 'version')
  return version === undefined ? {} : { version }
}
