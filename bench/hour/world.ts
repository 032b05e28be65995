// The world outside of the server: DNS on port 53, an authority for certificates at the address of Let's Encrypt, and a provider at that of Gmail.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Records, startDnsServer } from '../../packages/mail/tests/harness/dns-server.ts'
import { startAcmeServer } from '../../packages/server/tests/harness/acme/server.ts'
import { createCertificate } from '../../packages/server/tests/harness/certificate.ts'
import { startProvider } from './provider.ts'

/** Address of the server, and those of the world on the same link. */
export const addresses = { server: '45.20.0.10', provider: '45.20.0.25', dns: '45.20.0.53', authority: '45.20.0.80' }
export const names = { mail: 'agents.example.com', api: 'callsign.example.com', provider: 'gmail-smtp-in.l.google.com' }
const authorityName = 'acme-v02.api.letsencrypt.org'

/** Writes the certificates that the server has to trust into `folder`, as `trusted.pem`. */
export async function startWorld(folder: string) {
  const dns = await startDnsServer(
    {
      'gmail.com': { MX: [{ preference: 5, exchange: names.provider }], TXT: [`v=spf1 ip4:${addresses.provider} -all`] },
      '_dmarc.gmail.com': { TXT: ['v=DMARC1; p=reject'] },
      [names.provider]: { A: [addresses.provider] },
      [`${reversed(addresses.provider)}.in-addr.arpa`]: { PTR: [names.provider] },
      [authorityName]: { A: [addresses.authority] },
    },
    addresses.dns,
    53,
  )
  const acme = await startAcmeServer({
    dns: dns.address,
    httpPort: () => 80,
    listener: { name: authorityName, host: addresses.authority, port: 443 },
  })
  writeFileSync(join(folder, 'trusted.pem'), `${acme.ca}${acme.root}`)
  const provider = await startProvider({
    address: addresses.provider,
    dnsServer: dns.address,
    certificate: createCertificate({ commonName: names.provider, dnsNames: [names.provider] }),
  })
  /** Records that the operator has published. */
  const zone = new Map<string, Records>()
  return {
    acme,
    dns,
    provider,

    /** Publishes the records as commands print them: `NAME. [IN] TYPE VALUE`, with the words `the public address` for the server's own. */
    publish(printed: string): number {
      const records = [...printed.matchAll(/^ *(\S+)\. +(?:IN +)?(A|MX|TXT) +(.*)$/gm)]
      for (const [, name = '', type, value = ''] of records) {
        const known = zone.get(name) ?? {}
        const strings = [...value.matchAll(/"([^"]*)"/g)].map((part) => part[1] as string)
        const [preference = '', exchange = ''] = value.split(' ')
        const record =
          type === 'A'
            ? { A: [addresses.server] }
            : type === 'MX'
              ? { MX: [{ preference: Number(preference), exchange: exchange.replace(/\.$/, '') }] }
              : { TXT: [strings] }
        zone.set(name, { ...known, ...record })
        dns.set(name, { ...known, ...record })
      }
      return records.length
    },

    /** Removes the TXT records of the server. */
    withdraw(): void {
      for (const [name, own] of zone) dns.set(name, { ...own, TXT: [] })
    },

    async stop(): Promise<void> {
      provider.stop()
      await acme.stop()
      await dns.stop()
    },
  }
}

export const reversed = (address: string): string => address.split('.').toReversed().join('.')
