// Requests of a public client, from a loopback address of its choice.
import { once } from 'node:events'
import { connect } from 'node:http2'
import { type RequestOptions, request } from 'node:https'

export type Reply = { status: number; text: string; headers: Record<string, string | string[] | undefined> }

/** Sends one request on a connection of its own. A function as the body writes it in its own time. */
export async function ask(url: string, options: RequestOptions = {}, body?: string | Buffer): Promise<Reply> {
  const outgoing = request(url, { agent: false, ...options })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode, text: Buffer.concat(chunks).toString(), headers: response.headers }
}

/** GETs over HTTP/2. */
export async function askHttp2(url: string): Promise<Reply> {
  const { origin, pathname } = new URL(url)
  const session = connect(origin)
  try {
    const stream = session.request({ ':path': pathname })
    const [headers] = await once(stream, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    return { status: Number(headers[':status']), text: Buffer.concat(chunks).toString(), headers }
  } finally {
    session.close()
  }
}
