// Runs `callsignd doctor`. Checks everything that the server needs, changes nothing but a probe file, and prints its findings.
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import { createDnsResolver } from '../edges/dns/resolver.ts'
import { createWeb } from '../edges/outbound-http/guarded-fetch.ts'
import { createHostLookup } from '../edges/outbound-http/host-lookup.ts'
import { version } from '../wiring/parts.ts'
import { checkCertificates } from './doctor-certificates.ts'
import { checkClock } from './doctor-clock.ts'
import { checkDatabase } from './doctor-database.ts'
import { checkMachine } from './doctor-machine.ts'
import { checkMail } from './doctor-mail.ts'
import { checkNetwork } from './doctor-network.ts'
import type { Finding } from './finding.ts'

const marks = { ok: 'ok        ', note: 'note      ', attention: 'ATTENTION ' }

type Options = { config: Config; log: Log; print: (line: string) => void; isJson?: boolean }

/** Prints one line per finding, or one JSON object. Returns false when a finding needs attention. */
export async function runDoctor({ config, log, print, isJson = false }: Options): Promise<boolean> {
  const findings: (Finding & { area: string })[] = []
  const say = (area: string, more: Finding[]) => {
    if (!isJson) for (const { state, text } of more) print(`${marks[state]}${text}`)
    findings.push(...more.map((finding) => ({ area, ...finding })))
  }
  say('machine', checkMachine(config))
  say('clock', await checkClock(config))
  const network = await checkNetwork(config)
  say('network', network.findings)
  say('certificates', await checkCertificates(config, network.isServing))
  const database = await checkDatabase(config, log, network.isServing)
  say('database', database.findings)
  const { dnsServers, outboundAllowCidrs } = config
  const web = createWeb({
    allowCidrs: outboundAllowCidrs,
    userAgent: `Callsign/${version}`,
    ...(dnsServers.length > 0 ? { lookup: createHostLookup(dnsServers) } : {}),
  })
  say('mail', await checkMail({ config, dns: createDnsResolver({ servers: dnsServers }), dkim: database.dkim, fetchFile: web.fetchFile }))
  web.close()
  const bad = findings.filter(({ state }) => state === 'attention').length
  if (isJson) print(JSON.stringify({ ok: bad === 0, findings }, null, 2))
  else {
    print('')
    print(bad === 0 ? 'Everything is fine.' : `${bad === 1 ? 'One thing needs' : `${bad} things need`} attention.`)
  }
  return bad === 0
}
