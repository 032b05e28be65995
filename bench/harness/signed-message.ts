// A sender with an RSA-2048 key, its DNS records, and signed messages of any size.
import { createPrivateKey } from 'node:crypto'
import { generateKeyPairFor } from '../../packages/mail/src/authentication/dkim/key-pair.ts'
import { signMessage } from '../../packages/mail/src/authentication/dkim/signing.ts'

export const textLine = 'The order 4711 was shipped this morning and will arrive on Thursday.\r\n'

const header =
  'From: Ada <ada@sender.example>\r\nTo: box@agents.localhost\r\nSubject: A message\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n'

/** `records` returns DNS records by name, for mail from these networks. `sign` makes a message of about the given size that repeats this line. */
export async function createSender(networks: string) {
  const { publicKey, privatePem } = await generateKeyPairFor('rsa-sha256')
  const key = { domain: 'sender.example', selector: 's1', algorithm: 'rsa-sha256', privateKey: createPrivateKey(privatePem) } as const
  return {
    records: {
      'sender.example': { TXT: [`v=spf1 ip4:${networks} -all`] },
      '_dmarc.sender.example': { TXT: ['v=DMARC1; p=reject'] },
      's1._domainkey.sender.example': { TXT: [`v=DKIM1; k=rsa; p=${publicKey}`] },
    },
    sign: (line: string, bytes: number): Promise<Buffer> =>
      signMessage(Buffer.from(header + line.repeat(Math.ceil((bytes - header.length) / line.length))), [key], new Date()),
  }
}
