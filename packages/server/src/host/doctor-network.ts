// The doctor's checks of the network, which cover our ports, the public address and the relay.
import { get } from 'node:http'
import { connect, createServer } from 'node:net'
import type { Config } from '../config/settings.ts'
import { reachable } from '../wiring/tls-listeners.ts'
import { attention, type Finding, note, ok, reasonOf } from './finding.ts'

const answerMs = 5_000
const bannerBytesMax = 512

/** `isServing` is true when a Callsign server answers on the HTTP port. */
export async function checkNetwork(config: Config): Promise<{ findings: Finding[]; isServing: boolean }> {
  const isServing = config.port !== 0 && (await isCallsignHttp(reachable(config.host), config.port))
  const findings = [await checkPort('HTTP', 'CALLSIGN_PORT', config.host, config.port, async () => isServing)]
  if (config.smtpPort === null) findings.push(note('SMTP is off (CALLSIGN_SMTP_PORT), so that this process receives no mail from outside.'))
  else if (config.roles.includes('smtp')) {
    const port = config.smtpPort
    findings.push(await checkPort('SMTP', 'CALLSIGN_SMTP_PORT', config.host, port, () => isCallsignSmtp(config, port)))
  }
  findings.push(checkPublicUrl(config))
  if (config.mailTransport === 'relay' && config.smtpRelayUrl) findings.push(await checkRelay(config.smtpRelayUrl))
  else if (config.mailTransport === 'simulator')
    findings.push(note('Mail to the outside is recorded and not sent (CALLSIGN_MAIL_TRANSPORT=simulator).'))
  return { findings, isServing }
}

async function checkPort(what: string, setting: string, host: string, port: number, isOurs: () => Promise<boolean>): Promise<Finding> {
  if (port === 0) return note(`${what} takes any free port at each start (${setting}=0).`)
  const failure = await tryListen(host, port)
  if (failure === null) return ok(`${what}: port ${port} on ${host} is free.`)
  if (failure === 'EADDRINUSE') {
    return (await isOurs())
      ? ok(`${what}: a running Callsign answers on port ${port}.`)
      : attention(`${what}: another program uses port ${port} on ${host}. Stop it, or change ${setting}.`)
  }
  if (failure === 'EACCES')
    return attention(`${what}: this user may not listen on port ${port}. Ports below 1024 need a capability or root.`)
  if (failure === 'EADDRNOTAVAIL') return attention(`${what}: this machine has no address ${host} (CALLSIGN_HOST).`)
  return attention(`${what}: port ${port} on ${host} cannot be used: ${failure}.`)
}

/** Null when the port is free, else the system's error code. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

function isCallsignHttp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, path: '/healthz', timeout: answerMs }, (response) => {
      response.resume()
      // Every Callsign response carries such an id.
      resolve(response.statusCode === 200 && String(response.headers['x-request-id'] ?? '').startsWith('req_'))
    })
    request.once('timeout', () => request.destroy(new Error('timeout')))
    request.once('error', () => resolve(false))
  })
}

async function isCallsignSmtp(config: Config, port: number): Promise<boolean> {
  const banner = await readBanner(reachable(config.host), port).catch(() => '')
  return banner.startsWith(`220 ${config.mailDomain} `)
}

function checkPublicUrl(config: Config): Finding {
  const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|::1|\[::1\])$/.test(host)
  if (config.publicUrl === null) {
    return isLoopback(config.host)
      ? ok('Links lead to localhost, and only this machine can reach the server.')
      : attention('Other machines can reach the server, but links in responses lead to localhost. Set CALLSIGN_PUBLIC_URL.')
  }
  const { protocol, hostname, port } = new URL(config.publicUrl)
  if (isLoopback(hostname)) {
    const urlPort = Number(port) || (protocol === 'https:' ? 443 : 80)
    if (config.port !== 0 && protocol === 'http:' && urlPort !== config.port)
      return note(`Links lead to ${config.publicUrl}, and the server listens on port ${config.port}. A proxy must pass requests on.`)
    return ok(`Links lead to ${config.publicUrl}.`)
  }
  if (protocol === 'http:') return attention(`Keys travel unencrypted to ${config.publicUrl}. Put a TLS proxy in front, and use https://.`)
  return isLoopback(config.host)
    ? note(`Links lead to ${config.publicUrl}. A proxy on this machine must pass requests on to port ${config.port}.`)
    : ok(`Links lead to ${config.publicUrl}.`)
}

/** The relay must accept a connection. Over smtp:// it must also send its greeting. */
async function checkRelay(relayUrl: string): Promise<Finding> {
  const { protocol, hostname, port: given } = new URL(relayUrl)
  const isImplicit = protocol === 'smtps:'
  const port = Number(given) || (isImplicit ? 465 : 25)
  const name = `The relay ${hostname}:${port}`
  try {
    const banner = await readBanner(hostname.replace(/^\[|\]$/g, ''), port, isImplicit)
    if (isImplicit || banner.startsWith('220')) return ok(`${name} answers.`)
    return attention(`${name} answers, but not as a mail server that accepts mail: ${banner.trim().slice(0, 100)}`)
  } catch (error) {
    return attention(`${name} cannot be reached: ${reasonOf(error)}.`)
  }
}

/** The first line that a server sends within 5 seconds, or '' right after connecting when `isSilent`. */
export function readBanner(host: string, port: number, isSilent = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    let text = ''
    const finish = (banner: string) => {
      socket.destroy()
      resolve(banner)
    }
    socket.setTimeout(answerMs, () => socket.destroy(new Error(`no answer within ${answerMs / 1000} s`)))
    socket.once('error', reject)
    socket.once('connect', () => isSilent && finish(''))
    socket.once('end', () => finish(text))
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (text.includes('\n') || text.length > bannerBytesMax) finish(text)
    })
  })
}
