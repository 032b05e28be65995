// The access log: one line per request to the API, the pages or a tunnel, without bodies, headers of keys, or values that may be secret.
import { closeSync, openSync, writeSync } from 'node:fs'
import type { FastifyRequest } from 'fastify'
import { createClientReader } from '../../../core/client-address.ts'
import { now } from '../../../core/clock.ts'
import type { PublicAccess } from '../../../features/tunnels/model.ts'

export type AccessLogFormat = 'combined' | 'json'

/** A request that has ended. `bytes` is null for streams. */
export type Access = { request: FastifyRequest; status: number; bytes: number | null; ms: number }

export type AccessLog = {
  write(access: Access): void
  /** Writes a public request through a tunnel. */
  writePublic(access: PublicAccess): void
  /** Opens the file again, after a program has moved it. */
  reopen(): void
  close(): void
}

/** One line, by the names of the JSON format. Public requests through tunnels lack the last four. */
type Line = {
  client: string
  host: string | null
  method: string
  target: string
  protocol: string
  status: number
  bytes: number | null
  ms: number
  referer?: string
  user_agent?: string
  request_id?: string
  key_id?: string | null
}

const mask = '***'
/** Segments of unknown paths up to this length are shown. Keys and tokens are longer. */
const shownCharactersMax = 24

/** The path of a route with its parameters. Outside the API they may be secrets, such as tokens of links and callbacks. */
function pathOf(request: FastifyRequest): string {
  const path = (request.raw.url ?? '').split('?', 1)[0] as string
  const { url: pattern } = request.routeOptions
  if (pattern?.startsWith('/api/v1/')) return path
  if (pattern !== undefined) return pattern.replace(/:[A-Za-z_]+(?:\([^)]*\))?|\*/g, mask)
  return maskedPath(path)
}

/** An unknown path. Long segments may be tokens. */
const maskedPath = (path: string): string => path.replace(/[^/]+/g, (segment) => (segment.length > shownCharactersMax ? mask : segment))

/** The target of a request. Every value of the query is masked, because links carry signatures and codes there. */
export function maskedTarget(request: FastifyRequest): string {
  const [, query] = (request.raw.url ?? '').split('?', 2)
  if (query === undefined) return pathOf(request)
  const names = query.split('&').map((part) => part.split('=', 1)[0] as string)
  return `${pathOf(request)}?${names.map((name) => `${name.length > shownCharactersMax ? mask : name}=${mask}`).join('&')}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `02/Mar/2026:09:30:00 +0000` */
function commonTime(at: Date): string {
  const [day, time] = at.toISOString().split('T') as [string, string]
  const [year, month, date] = day.split('-') as [string, string, string]
  return `${date}/${months[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`
}

/** A value between quotes, as Apache writes it: no quotes, backslashes or control characters of a client end or add a line. */
const quoted = (text: string): string =>
  `"${text.replace(/[^ !#-[\]-~]/g, (one) => (one === '"' || one === '\\' ? `\\${one}` : `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`))}"`

/** The referrer without its query. */
const refererOf = (request: FastifyRequest): string => String(request.headers.referer ?? '-').split(/[?#]/, 1)[0] as string

export function createAccessLog(
  { target, format }: { target: 'stdout' | { path: string }; format: AccessLogFormat },
  trustedProxies: string[],
): AccessLog {
  const readClient = createClientReader(trustedProxies)
  const open = (): number => (target === 'stdout' ? 1 : openSync(target.path, 'a', 0o640))
  let file = open()

  /** `target` is that of the combined format. */
  function lineOf(line: Line, target: string): string {
    const at = now()
    if (format === 'json') return JSON.stringify({ time: at.toISOString(), ...line })
    const { client, key_id, method, protocol, status, bytes, referer = '-', user_agent } = line
    const first = quoted(`${method} ${target} ${protocol}`)
    return `${client} - ${key_id ?? '-'} [${commonTime(at)}] ${first} ${status} ${bytes ?? '-'} ${quoted(referer)} ${quoted(user_agent || '-')}`
  }

  function append(line: Line, target: string): void {
    try {
      writeSync(file, `${lineOf(line, target)}\n`)
    } catch {
      // A full disk or a closed pipe must not fail requests.
    }
  }

  return {
    write({ request, status, bytes, ms }) {
      const { address, userAgent } = readClient(request.raw)
      const target = maskedTarget(request)
      const line: Line = {
        client: address,
        host: request.headers.host ?? null,
        method: request.method,
        target,
        protocol: `HTTP/${request.raw.httpVersion}`,
        status,
        bytes,
        ms: Math.round(ms * 10) / 10,
        referer: refererOf(request),
        user_agent: userAgent,
        request_id: request.id,
        key_id: request.caller?.keyId ?? null,
      }
      append(line, target)
    },
    writePublic({ client, host, method, path, protocol, status, bytes, ms }) {
      const target = maskedPath(path)
      append({ client, host, method, target, protocol, status, bytes, ms }, `http://${host}${target}`)
    },
    reopen() {
      if (target === 'stdout') return
      const opened = open()
      closeSync(file)
      file = opened
    },
    close() {
      if (target !== 'stdout') closeSync(file)
    },
  }
}
