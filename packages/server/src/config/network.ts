// Settings of outbound connections and DNS.
import { area, setting } from './setting.ts'
import { cidrList, isServerAddress } from './values.ts'

export const network = area({
  title: 'DNS and outbound connections',
  settings: {
    dnsServers: setting({
      name: 'CALLSIGN_DNS_SERVERS',
      fallback: '',
      shown: "(the system's)",
      sentence: "DNS resolvers in place of the system's, as a comma list of addresses with an optional :port.",
      read: (text) => {
        const servers = text.split(',').flatMap((part) => (part.trim() ? [part.trim()] : []))
        for (const server of servers)
          if (!isServerAddress(server)) throw new Error('must be a comma list of addresses such as 127.0.0.1:5353 or [::1]:53')
        return servers
      },
    }),
    outboundAllowCidrs: setting({
      name: 'CALLSIGN_OUTBOUND_ALLOW_CIDRS',
      fallback: '',
      shown: '(none)',
      sentence:
        'Ranges that fetches of caller-supplied URLs and direct mail delivery may reach in addition to public addresses, as a comma list of CIDRs.',
      read: cidrList,
    }),
  },
})
