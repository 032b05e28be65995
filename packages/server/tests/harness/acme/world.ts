// An ACME server with a DNS and a program for DNS-01, and the settings of a Callsign server that gets its certificates there.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDnsServer } from '../../../../mail/tests/harness/dns-server.ts'
import { startAcmeServer } from './server.ts'

export const acmeNames = {
  api: 'api.callsign.test',
  mail: 'mail.callsign.test',
  tunnels: 'tunnels.callsign.test',
}

/** `httpPort` is where the names answer in place of port 80. */
export async function startAcmeWorld(httpPort: () => number) {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-acme-'))
  const dns = await startDnsServer()
  for (const name of [acmeNames.api, acmeNames.mail]) dns.set(name, { A: ['127.0.0.1'] })
  const acme = await startAcmeServer({ dns: dns.address, httpPort })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, acme.ca)

  /** The records that the program publishes. */
  const records = new Map<string, string[]>()
  const control = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const [action, name, value] = JSON.parse(body) as [string, string, string]
    const others = (records.get(name) ?? []).filter((one) => one !== value)
    records.set(name, action === 'add' ? [...others, value] : others)
    dns.set(name, { TXT: records.get(name) as string[] })
    response.end()
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  const hook = join(folder, 'hook.mjs')
  const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}/`
  writeFileSync(
    hook,
    `#!${process.execPath}\nconst { ok } = await fetch('${url}', { method: 'POST', body: JSON.stringify(process.argv.slice(2)) })\nprocess.exit(ok ? 0 : 1)\n`,
  )
  chmodSync(hook, 0o755)

  return {
    acme,
    dns,
    folder,
    hook,
    caFile,
    /** The values that are published at a name. */
    published: (name: string) => records.get(name) ?? [],
    settings: {
      CALLSIGN_PUBLIC_URL: `https://${acmeNames.api}`,
      CALLSIGN_HTTPS_PORT: '0',
      CALLSIGN_MAIL_DOMAIN: acmeNames.mail,
      CALLSIGN_TUNNEL_DOMAIN: acmeNames.tunnels,
      CALLSIGN_ACME_DIRECTORY: acme.directoryUrl,
      CALLSIGN_ACME_EMAIL: 'operator@callsign.test',
      CALLSIGN_ACME_CA_FILE: caFile,
      CALLSIGN_ACME_DNS_HOOK: hook,
      CALLSIGN_ACME_ORDERS_PER_DAY: '100',
      CALLSIGN_ACME_RETRY_SECONDS: '0.2',
      CALLSIGN_ACME_CHECK_SECONDS: '0.1',
    },
    async stop() {
      control.closeAllConnections()
      control.close()
      await acme.stop()
      await dns.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type AcmeWorld = Awaited<ReturnType<typeof startAcmeWorld>>
