// Settings of tunnels and of the connections between gateway nodes.
import { resolve } from 'node:path'
import { type Area, setting } from './setting.ts'
import { cidrList, domainName, integer, optionalPort, url } from './values.ts'

const settings = {
  tunnelDomain: setting({
    name: 'CALLSIGN_TUNNEL_DOMAIN',
    fallback: 'tunnel.localhost',
    sentence: 'Domain of the tunnels, https://<handle>. this domain.',
    read: domainName,
  }),
  tunnelHttpsPort: setting({
    name: 'CALLSIGN_TUNNEL_HTTPS_PORT',
    fallback: 'off',
    sentence: 'Separate HTTPS port for tunnels. 0 picks a free port and prints it. `off` opens none, for servers behind a TLS proxy.',
    read: optionalPort,
  }),
  tunnelTlsCertFile: setting({
    name: 'CALLSIGN_TUNNEL_TLS_CERT_FILE',
    fallback: null,
    shown: '(made by a local authority in <data>/tunnel-authority)',
    sentence:
      'PEM certificate chain of that port, valid for *. the tunnel domain. The file is read again when it changes. Without it, the certificate comes over ACME if CALLSIGN_ACME_DNS_HOOK is set.',
    read: (text) => resolve(text),
  }),
  tunnelTlsKeyFile: setting({
    name: 'CALLSIGN_TUNNEL_TLS_KEY_FILE',
    fallback: null,
    sentence: 'PEM private key of that certificate.',
    read: (text) => resolve(text),
  }),
  tunnelConnectUrl: setting({
    name: 'CALLSIGN_TUNNEL_CONNECT_URL',
    fallback: null,
    shown: '(the address of the API)',
    sentence: 'Address to which tunnel clients connect, if gateways have another address than the API.',
    read: url('http:', 'https:'),
  }),
  tunnelAnswerSeconds: setting({
    name: 'CALLSIGN_TUNNEL_ANSWER_SECONDS',
    fallback: '120',
    sentence: "Seconds until the first byte of a tunnel target's response. The rest of the response has no time limit.",
    read: integer(1, 86_400),
  }),
  tunnelRequestsMax: setting({
    name: 'CALLSIGN_TUNNEL_REQUESTS_PER_CLIENT',
    fallback: '1024',
    sentence: 'In-flight requests per connection of a tunnel client.',
    read: integer(1, 100_000),
  }),
  tunnelPerSecond: setting({
    name: 'CALLSIGN_RATE_LIMIT_TUNNEL',
    fallback: '0',
    sentence: 'Requests per second for one tunnel on one node, with bursts of twice that. 0 means no limit.',
    read: integer(0, 1_000_000),
  }),
  tunnelPingSeconds: setting({
    name: 'CALLSIGN_TUNNEL_PING_SECONDS',
    fallback: '10',
    sentence:
      'Idle seconds before a tunnel client is pinged. It is disconnected if it sends nothing for another 10 seconds. While requests are in flight, it is pinged every second.',
    read: integer(1, 300),
  }),
  tunnelWindowMegabytes: setting({
    name: 'CALLSIGN_TUNNEL_WINDOW_MEGABYTES',
    fallback: '256',
    sentence: 'Memory limit, in MB, for the growth of the flow-control windows of all tunnel streams on one node.',
    read: integer(0, 100_000),
  }),
  trustedProxies: setting({
    name: 'CALLSIGN_TRUSTED_PROXIES',
    fallback: '',
    shown: '(none)',
    sentence: 'Proxies in front of the server, as a comma list of CIDRs. Their X-Forwarded headers are trusted, and extended for tunnels.',
    read: cidrList,
  }),
  gatewayHost: setting({
    name: 'CALLSIGN_GATEWAY_HOST',
    fallback: '127.0.0.1',
    sentence: 'Address that the port for other gateway nodes listens on. Used only with CALLSIGN_DATABASE_URL.',
    read: (text) => text,
  }),
  gatewayPort: setting({
    name: 'CALLSIGN_GATEWAY_PORT',
    fallback: '0',
    sentence: 'Port for other gateway nodes, encrypted with the keyring that all of them share. 0 picks a free port. `off` opens none.',
    read: optionalPort,
  }),
  gatewayAddress: setting({
    name: 'CALLSIGN_GATEWAY_ADDRESS',
    fallback: null,
    shown: 'CALLSIGN_GATEWAY_HOST and the port',
    sentence: 'Address at which other gateway nodes reach this node, host:port.',
    read: (text) => {
      if (!/^(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(text)) throw new Error('must be host:port')
      return text
    },
  }),
}

export const tunnels: Area<typeof settings, { publicUrl: string | null }> = {
  title: 'Tunnels',
  settings,
  check({ tunnelTlsCertFile, tunnelTlsKeyFile, tunnelDomain, tunnelConnectUrl, publicUrl }) {
    if (!tunnelTlsCertFile !== !tunnelTlsKeyFile) return 'CALLSIGN_TUNNEL_TLS_CERT_FILE and CALLSIGN_TUNNEL_TLS_KEY_FILE go together'
    // Without a setting, clients reach the server at localhost.
    if (isAtOrBelow(publicUrl ?? 'http://localhost', tunnelDomain)) return ownHostRefusal('CALLSIGN_PUBLIC_URL', publicUrl, tunnelDomain)
    if (tunnelConnectUrl !== null && isAtOrBelow(tunnelConnectUrl, tunnelDomain))
      return ownHostRefusal('CALLSIGN_TUNNEL_CONNECT_URL', tunnelConnectUrl, tunnelDomain)
    return null
  },
}

const isAtOrBelow = (url: string, domain: string): boolean => `.${new URL(url).hostname.replace(/\.$/, '')}`.endsWith(`.${domain}`)

const ownHostRefusal = (name: string, url: string | null, domain: string): string =>
  `${name} (${url ?? 'http://localhost'}) must not be at or below CALLSIGN_TUNNEL_DOMAIN (${domain}): a tunnel with that name would receive the keys that clients send`
