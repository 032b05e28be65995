// Plays SMTP dialogs over a real socket, with a scripted client and a reader of transcript files.
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** A client that reads lines as they arrive. All waits use events. */
export class DialogClient {
  socket: Socket | TLSSocket
  #text = ''
  #isClosed = false
  #wake: (() => void) | null = null

  private constructor(socket: Socket) {
    this.socket = socket
    this.#listen(socket)
  }

  /** Connected, greeting not read. */
  /** `localAddress` is another address of this machine, such as 127.0.0.2. */
  static async connect(port: number, localAddress = '127.0.0.1'): Promise<DialogClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    const client = new DialogClient(socket)
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return client
  }

  /** Connected and greeted. */
  static async greeted(port: number, localAddress?: string): Promise<DialogClient> {
    const client = await DialogClient.connect(port, localAddress)
    await client.expect('220 ')
    return client
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      this.#wake?.()
    })
    // A reset counts as closed. Bytes received before it stay readable.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.socket !== socket) return
      this.#isClosed = true
      this.#wake?.()
    })
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** One line without its CRLF, or null when the connection closed without one. */
  async line(): Promise<string | null> {
    for (;;) {
      const end = this.#text.indexOf('\r\n')
      if (end !== -1) {
        const line = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return line
      }
      if (this.#isClosed) return null
      await this.#event()
    }
  }

  /** Reads a whole reply. Throws when it does not begin with `prefix`. */
  async expect(prefix: string): Promise<string> {
    const lines: string[] = []
    for (;;) {
      const line = await this.line()
      if (line !== null) lines.push(line)
      if (line === null || line[3] !== '-') break
    }
    const reply = lines.join('\n')
    if (!reply.startsWith(prefix))
      throw new Error(`expected ${JSON.stringify(prefix)}, got ${reply === '' ? 'a closed connection' : JSON.stringify(reply)}`)
    return reply
  }

  /** Sends a line and expects a reply. */
  async ask(line: string, prefix: string): Promise<string> {
    this.send(`${line}\r\n`)
    return this.expect(prefix)
  }

  /** All text until the server closes. */
  async rest(): Promise<string> {
    while (!this.#isClosed) await this.#event()
    const text = this.#text
    this.#text = ''
    return text
  }

  /** Switches to TLS after a 220 to STARTTLS. */
  async secure(): Promise<void> {
    const plain = this.socket
    plain.removeAllListeners('data')
    const secure = connectTls({ socket: plain, rejectUnauthorized: false })
    this.socket = secure
    this.#listen(secure)
    await new Promise<void>((resolve, reject) => secure.once('secureConnect', resolve).once('error', reject))
  }

  close(): void {
    this.socket.destroy()
  }

  #event(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** `{text*n}` repeats, `\r \n \t \0 \\` and `\xHH` are octets, everything else is UTF-8. */
function unescapeBytes(text: string): Buffer {
  const repeated = text.replace(/\{([^{}*]*)\*(\d+)\}/g, (_, what: string, times: string) => what.repeat(Number(times)))
  const escapes: Record<string, string> = { r: '\r', n: '\n', t: '\t', '0': '\0', '\\': '\\' }
  const latin1 = Buffer.from(repeated, 'utf8').toString('latin1')
  const bytes = latin1.replace(/\\(?:x([0-9a-f]{2})|([rnt0\\]))/g, (_, hex?: string, name?: string) =>
    hex === undefined ? escapes[name!]! : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1')
}

/** Settings that a transcript asks for in lines `L: name=number`. */
export const readLimits = (transcript: string): Record<string, number> =>
  Object.fromEntries([...transcript.matchAll(/^L: (\w+)=(\d+)$/gm)].map(([, name, value]) => [name!, Number(value)]))

/**
 * Plays a transcript. `C:` is a line sent with CRLF, and consecutive lines go out in one write. `R:` is raw octets. `S:` is the beginning of the
 * server's next line. `X:` is a close by the server without another octet. `A: n` means that n messages were accepted so far. Throws at the first
 * difference.
 */
export async function playTranscript(transcript: string, client: DialogClient, acceptedCount: () => number): Promise<void> {
  let pending: Buffer[] = []
  for (const [index, step] of transcript.split('\n').entries()) {
    const mark = step.slice(0, 2)
    const text = step.slice(3)
    if (mark === 'C:') pending.push(unescapeBytes(text), Buffer.from('\r\n'))
    else if (mark === 'R:') pending.push(unescapeBytes(text))
    else if (mark === 'S:' || mark === 'X:') {
      if (pending.length > 0) client.send(Buffer.concat(pending))
      pending = []
      const line = mark === 'S:' ? await client.line() : (await client.rest()) || null
      const isExpected = mark === 'S:' ? (line?.startsWith(text) ?? false) : line === null
      if (!isExpected) throw new Error(`line ${index + 1}: expected ${step}, got ${line ?? 'a closed connection'}`)
    } else if (mark === 'A:') {
      if (acceptedCount() !== Number(text)) throw new Error(`line ${index + 1}: expected ${text} accepted messages, got ${acceptedCount()}`)
    } else if (step !== '' && !step.startsWith('#') && mark !== 'L:') throw new Error(`line ${index + 1}: not a step: ${step}`)
  }
}
