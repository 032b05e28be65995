// What commands that write mail share: recipients, text from the line, a file or standard input, and the name of a mail.
import { type Context, type Option, text, type Values } from './command.ts'

export const recipientOptions: Record<'to' | 'cc' | 'bcc', Option> = {
  to: { type: 'string', multiple: true, value: 'ADDRESS', about: 'A recipient; may come several times.' },
  cc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'The same, in copy.' },
  bcc: { type: 'string', multiple: true, value: 'ADDRESS', about: 'The same, unseen.' },
}

export const bodyOptions: Record<string, Option> = {
  text: { type: 'string', value: 'TEXT', about: 'The text.' },
  'text-file': { type: 'string', value: 'FILE', about: 'A file with the text, - for standard input.' },
  'html-file': { type: 'string', value: 'FILE', about: 'A file with the HTML.' },
}

export const keyOption: Record<string, Option> = {
  'idempotency-key': { type: 'string', value: 'KEY', about: 'Names this mail: sent again under the same name, it goes out once.' },
}

/** The text and the HTML that were given; absent ones are absent. */
export async function readBody({ input }: Context, values: Values): Promise<{ text?: string; html?: string }> {
  const file = text(values, 'text-file')
  const htmlFile = text(values, 'html-file')
  const body = file !== undefined ? await input.file(file) : text(values, 'text')
  return { ...(body !== undefined && { text: body }), ...(htmlFile !== undefined && { html: await input.file(htmlFile) }) }
}

/** The request's options with the Idempotency-Key that was given. */
export function keyed(values: Values): { idempotencyKey?: string } {
  const idempotencyKey = text(values, 'idempotency-key')
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}
