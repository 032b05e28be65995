// Latency of one client from the end of its message to the 250 that confirms it.
import { once } from 'node:events'
import { connect } from 'node:net'

export type SmtpClient = {
  /** Sends one message. Milliseconds from the final dot to 250. Throws at any other answer. */
  deliver: (from: string, to: string, message: Buffer) => Promise<number>
  close: () => Promise<void>
}

/** The message of the error when the server has closed the connection. */
export const connectionClosed = 'the server closed the connection'

/** Connects to the server on this port and greets it. */
export async function openSmtpClient(port: number): Promise<SmtpClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  let answered: (reply: string) => void = () => {}
  let failed: (error: Error) => void = () => {}
  socket.once('error', () => {})
  socket.once('close', () => failed(new Error(connectionClosed)))
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const end = /^\d{3} .*\r\n/m.exec(text)
    if (!end) return
    const reply = text
    text = ''
    answered(reply)
  })
  const say = async (data: string | Buffer, code: string): Promise<void> => {
    if (socket.closed) throw new Error(connectionClosed)
    const reply = new Promise<string>((resolve, reject) => {
      answered = resolve
      failed = reject
    })
    if (data.length > 0) socket.write(data)
    const said = await reply
    if (!said.startsWith(code)) throw new Error(`the server says ${said}`)
  }
  await say('', '220')
  await say('EHLO bench.example\r\n', '250')
  return {
    async deliver(from, to, message) {
      await say(`MAIL FROM:<${from}>\r\n`, '250')
      await say(`RCPT TO:<${to}>\r\n`, '250')
      await say('DATA\r\n', '354')
      const beganMs = performance.now()
      await say(Buffer.concat([message, Buffer.from('\r\n.\r\n')]), '250')
      return performance.now() - beganMs
    },
    async close() {
      if (socket.closed) return
      socket.end('QUIT\r\n')
      await once(socket, 'close')
    },
  }
}

/** Sends the message `count` times, one after another over one connection. Milliseconds from the final dot to the answer, sorted. */
export async function measureLatency(port: number, from: string, to: string, message: Buffer, count: number): Promise<number[]> {
  const client = await openSmtpClient(port)
  const took: number[] = []
  for (let i = 0; i < count; i++) took.push(await client.deliver(from, to, message))
  await client.close()
  return took.sort((a, b) => a - b)
}
