// A plain SMTP client on a socket. It sends one command per reply, and reports when a message is sent and waits for its 250.
import { connect, type Socket } from 'node:net'

export type SmtpReply = { code: number; text: string }

const replyMsMax = 45_000

export type SmtpClient = Awaited<ReturnType<typeof openSmtp>>

/** Connects and sends EHLO. Rejects when the connection or the greeting fails. */
export async function openSmtp(port: number) {
  const socket = await dial(port)
  let received = ''
  let failure: Error | null = null
  let finish = () => {}
  socket.setTimeout(replyMsMax, () => socket.destroy(new Error(`silence for ${replyMsMax} ms`)))
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
    finish()
  })
  const end = (error?: Error) => {
    failure ??= error ?? new Error('the connection ended')
    finish()
  }
  socket.on('error', end)
  socket.on('end', () => end())
  socket.on('close', () => end())

  async function readReply(): Promise<SmtpReply> {
    for (;;) {
      const [whole] = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(received) ?? []
      if (whole !== undefined) {
        received = received.slice(whole.length)
        return { code: Number(whole.slice(0, 3)), text: whole.trim() }
      }
      if (failure) throw failure
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    }
  }

  function ask(command: string): Promise<SmtpReply> {
    socket.write(`${command}\r\n`, 'latin1')
    return readReply()
  }

  const greeting = await readReply()
  if (greeting.code !== 220) throw new Error(`greeted with ${greeting.text}`)
  const hello = await ask('EHLO client.example')
  if (hello.code !== 250) throw new Error(`EHLO was answered ${hello.text}`)

  return {
    /**
     * Delivers a message. Resolves with the deciding reply, which is the one to its data or the first negative one. Rejects when the connection
     * breaks first. `onSent` is called when the last byte is out.
     */
    async deliver(from: string, recipients: string[], raw: Buffer, onSent: () => void): Promise<SmtpReply> {
      for (const command of [`MAIL FROM:<${from}>`, ...recipients.map((recipient) => `RCPT TO:<${recipient}>`)]) {
        const reply = await ask(command)
        if (reply.code !== 250) {
          await ask('RSET')
          return reply
        }
      }
      const ready = await ask('DATA')
      if (ready.code !== 354) return ready
      socket.write(raw)
      // Lines of these messages never begin with a dot, so dot-stuffing is not needed.
      socket.write('.\r\n', () => onSent())
      return readReply()
    },

    isOpen: () => failure === null,
    close: () => void socket.destroy(),
  }
}

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })
}
