// Reads messages with two independent parsers: postal-mime, and the email package of Python's standard library.
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import PostalMime, { type Address } from 'postal-mime'

/** The parts that every parser returns. White space in bodies is folded, and attachments are digests of their bytes. */
export type Reading = { subject: string; from: string[]; to: string[]; cc: string[]; text: string; html: string; attachments: string[] }

const python = 'python3'

/** The reason why Python is missing, or null. */
export function findPython(): string | null {
  try {
    execFileSync(python, ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'python3 is not installed'
  }
}

export const foldSpace = (text: string | null | undefined): string => (text ?? '').replace(/[\s\u00a0]+/g, ' ').trim()

/** Attachments by their bytes, whatever a parser made of the line ends in those that are text. */
export const digestOf = (bytes: Buffer): string => hash('sha256', bytes.toString('latin1').replaceAll('\r\n', '\n').trimEnd())

export async function readWithPostalMime(raw: Buffer): Promise<Reading> {
  const email = await PostalMime.parse(raw, { forceRfc822Attachments: true, attachmentEncoding: 'arraybuffer' })
  const list = (addresses: Address[] | undefined): string[] =>
    (addresses ?? []).flatMap((entry) => (entry.group === undefined ? [entry.address] : list(entry.group)))
  return {
    subject: foldSpace(email.subject),
    from: list(email.from === undefined ? [] : [email.from]),
    to: list(email.to),
    cc: list(email.cc),
    text: foldSpace(email.text),
    html: foldSpace(email.html),
    attachments: email.attachments.map(({ content }) => digestOf(Buffer.from(content as ArrayBuffer))),
  }
}

const program = `
import sys, json, email, email.policy, email.utils, email.header
def text_of(part):
    payload = part.get_payload(decode=True) or b""
    charset = part.get_content_charset() or "utf-8"
    try:
        return payload.decode(charset, "replace")
    except LookupError:
        return payload.decode("latin-1")
def plain(value):
    out = ""
    for chunk, charset in email.header.decode_header(value):
        if isinstance(chunk, bytes):
            try:
                chunk = chunk.decode(charset or "utf-8", "replace")
            except LookupError:
                chunk = chunk.decode("latin-1")
        out += chunk
    return out
def addresses(message, name):
    found = message.get_all(name, [])
    return [a for _, a in email.utils.getaddresses([str(v) for v in found]) if a]
out = []
for line in sys.stdin:
    message = email.message_from_bytes(bytes.fromhex(line.strip()), policy=email.policy.compat32)
    texts, htmls, files = [], [], []
    def visit(part):
        kind = part.get_content_type()
        if kind == "message/rfc822" or kind == "message/global":
            inner = part.get_payload()
            files.append(inner[0].as_bytes() if isinstance(inner, list) and inner else b"")
            return
        if part.is_multipart():
            if kind.startswith("message/"):
                files.append(b"\\n".join(p.as_bytes() for p in part.get_payload()))
                return
            for child in part.get_payload():
                visit(child)
            return
        if part.get_content_disposition() != "attachment" and part.get_filename() is None and kind == "text/plain":
            texts.append(text_of(part))
        elif part.get_content_disposition() != "attachment" and part.get_filename() is None and kind == "text/html":
            htmls.append(text_of(part))
        else:
            files.append(part.get_payload(decode=True) or b"")
    visit(message)
    out.append({"subject": plain(message["subject"]) if message["subject"] is not None else "",
        "from": addresses(message, "from"), "to": addresses(message, "to"), "cc": addresses(message, "cc"),
        "text": "\\n".join(texts), "html": "\\n".join(htmls), "attachments": [f.hex() for f in files]})
json.dump(out, sys.stdout)
`

/** Many messages at once: starting Python takes longer than reading. */
export function readWithPython(raws: readonly Buffer[]): Reading[] {
  const output = execFileSync(python, ['-c', program], {
    input: raws.map((raw) => `${raw.toString('hex')}\n`).join(''),
    maxBuffer: 1 << 28,
  })
  return (JSON.parse(output.toString()) as Reading[]).map((reading) => ({
    ...reading,
    subject: foldSpace(reading.subject),
    text: foldSpace(reading.text),
    html: foldSpace(reading.html),
    attachments: reading.attachments.map((hex) => digestOf(Buffer.from(hex, 'hex'))),
  }))
}
