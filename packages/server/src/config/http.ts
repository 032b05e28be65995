// Settings of the HTTP server.
import { resolve } from 'node:path'
import { area, setting } from './setting.ts'
import { integer, oneOf, originUrl } from './values.ts'

export const http = area({
  title: 'HTTP',
  settings: {
    port: setting({
      name: 'CALLSIGN_PORT',
      fallback: '8080',
      sentence: 'HTTP port for the API, media, and tunnels by host name. 0 picks a free port and prints it.',
      read: integer(0, 65535),
    }),
    host: setting({
      name: 'CALLSIGN_HOST',
      fallback: '127.0.0.1',
      sentence: 'Address that HTTP and SMTP listen on.',
      read: (text) => text,
    }),
    publicUrl: setting({
      name: 'CALLSIGN_PUBLIC_URL',
      fallback: null,
      shown: 'http://localhost:<port>',
      sentence: 'Address at which clients reach the server, without a path. Links are made from it.',
      read: originUrl('http:', 'https:'),
    }),
    hostNames: setting({
      name: 'CALLSIGN_HOST_NAMES',
      fallback: '',
      shown: '(none)',
      sentence:
        'Further host names at which MCP clients reach the server, as a comma list, such as callsign or host.docker.internal. The name of CALLSIGN_PUBLIC_URL, localhost and IP addresses are known already.',
      read: (text) => text.split(',').flatMap((part) => (part.trim() ? [hostName(part.trim().toLowerCase())] : [])),
    }),
    accessLog: setting({
      name: 'CALLSIGN_ACCESS_LOG',
      fallback: 'off',
      sentence:
        'Writes one line per request to the API, the console and tunnels: off, stdout, or file:<path>. SIGHUP opens the file again.',
      read: (text) => {
        if (text === 'off') return null
        if (text === 'stdout') return 'stdout' as const
        if (/^file:./.test(text)) return { path: resolve(text.slice(5)) }
        throw new Error('must be off, stdout or file:<path>')
      },
    }),
    accessLogFormat: setting({
      name: 'CALLSIGN_ACCESS_LOG_FORMAT',
      fallback: 'combined',
      sentence: 'Format of the access log: combined, as of Apache and nginx, or json. Values of the query are masked in both.',
      read: oneOf('combined', 'json'),
    }),
  },
})

function hostName(text: string): string {
  if (!/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(text))
    throw new Error('must be host names without scheme, port and path')
  return text
}
