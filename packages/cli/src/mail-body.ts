// Common options of commands that write mail, for recipients, text from the line, a file or standard input, and the idempotency key.
import { type Context, type Option, text, type Values } from './command.ts'

export const recipientOptions: Record<'to' | 'cc' | 'bcc', Option> = {
  to: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A recipient. Repeatable.' },
  cc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A CC recipient. Repeatable.' },
  bcc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'The same, unseen.' },
}

export const bodyOptions: Record<string, Option> = {
  text: { type: 'string', value: 'TEXT', about: 'The text.' },
  'text-file': { type: 'string', value: 'FILE', about: 'A file with the text, - for standard input.' },
  'html-file': { type: 'string', value: 'FILE', about: 'A file with the HTML.' },
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
  const body = file !== undefined ? await input.file(file) : text(values, 'text')
  return { ...(body !== undefined && { text: body }), ...(htmlFile !== undefined && { html: await input.file(htmlFile) }) }
}

/** The request's options with the Idempotency-Key from the command line. */
export function keyed(values: Values): { idempotencyKey?: string } {
  const idempotencyKey = text(values, 'idempotency-key')
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}
