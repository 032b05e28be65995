// Settings of the HTTP server.
import { area, setting } from './setting.ts'
import { integer, url } from './values.ts'

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
      sentence: 'Address at which clients reach the server. Links are made from it.',
      read: url('http:', 'https:'),
    }),
  },
})
