// Independent SMTP clients against the server. These are nodemailer, swaks and Postfix's smtp-source.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createTransport } from 'nodemailer'
import { describe, expect, test } from 'vitest'
import { open } from './transcripts/smtp/listening-server.ts'

describe('foreign clients', () => {
  test('nodemailer delivers over TLS', async () => {
    const { port, receiver } = await open()
    const transport = createTransport({ host: '127.0.0.1', port, requireTLS: true, tls: { rejectUnauthorized: false } })
    const sent = await transport.sendMail({
      from: 'Alice <alice@example.org>',
      to: ['bob@example.com', 'unknown@example.com'],
      subject: 'Grüße',
      text: '.\r\n..\r\nend',
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(100_000, 7) }],
    })
    transport.close()
    expect(sent.accepted).toEqual(['bob@example.com'])
    expect(sent.rejected).toEqual(['unknown@example.com'])
    expect(sent.response).toBe('250 2.0.0 queued as m1')
    const raw = receiver.accepted[0]!.raw.toString('latin1')
    expect(raw).toContain('\r\n\r\n.\r\n..\r\nend\r\n')
    expect(raw).toContain('filename=a.bin')
    expect(receiver.accepted[0]!.envelope.tls?.version).toBe('TLSv1.3')
  })

  /** Runs a program to its end and returns its exit code and output. */
  async function run(program: string, args: string[]): Promise<{ code: number; output: string }> {
    const child = spawn(program, args)
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    const [code] = await once(child, 'close')
    return { code, output }
  }

  test('swaks delivers', async ({ skip }) => {
    if (!existsSync('/usr/bin/swaks')) skip('swaks is not installed (apt install swaks)')
    const { port, receiver } = await open()
    const to = [
      '--server',
      '127.0.0.1',
      '--port',
      String(port),
      '--helo',
      'swaks.example',
      '--from',
      'a@example.org',
      '--to',
      'b@example.com',
    ]
    const plain = await run('/usr/bin/swaks', [...to, '--body', '.\n..\nlast'])
    expect(plain.output).toContain('queued as m1')
    expect(plain.code).toBe(0)
    expect(receiver.accepted[0]!.raw.toString()).toContain('\r\n.\r\n..\r\nlast\r\n')
    const pipelined = await run('/usr/bin/swaks', [...to, '--pipeline', '--ehlo', 'swaks.example'])
    expect(pipelined.output).toContain('queued as m2')
    const { output } = await run('/usr/bin/swaks', ['--support'])
    if (!output.includes('=== TLS supported')) return
    const secure = await run('/usr/bin/swaks', [...to, '--tls'])
    expect(secure.output).toContain('queued as m3')
  })

  test('smtp-source delivers from ten sessions', async ({ skip }) => {
    if (!existsSync('/usr/sbin/smtp-source')) skip('smtp-source is not installed (apt install postfix)')
    const { port, receiver } = await open()
    const { code, output } = await run('/usr/sbin/smtp-source', ['-d', '-s', '10', '-m', '300', '-l', '10000', `127.0.0.1:${port}`])
    expect(output).toBe('')
    expect(code).toBe(0)
    expect(receiver.accepted).toHaveLength(300)
    expect(receiver.accepted.every(({ raw }) => raw.length >= 10_000 && raw.length < 11_000)).toBe(true)
    const fresh = await run('/usr/sbin/smtp-source', ['-s', '10', '-m', '100', '-l', '1000', '-r', '3', `127.0.0.1:${port}`])
    expect(fresh.code).toBe(0)
    expect(receiver.accepted).toHaveLength(400)
  })
})
