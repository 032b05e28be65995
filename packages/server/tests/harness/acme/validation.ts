// Validates control over names as an authority does: HTTP-01 with a real request, DNS-01 with a real query (RFC 8555 §8).
import { createHash } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { request } from 'node:http'
import { Problem } from './jws.ts'

const answerMs = 10_000
const redirectsMax = 10
const bytesMax = 4096

export type Validation = { identifier: string; token: string; keyAuthorization: string }
export type Validator = Record<'http-01' | 'dns-01', (validation: Validation) => Promise<void>>

const unauthorized = (detail: string) => new Problem(403, 'unauthorized', detail)

/** `httpPort` takes the place of port 80. Only names that the DNS knows are reached. */
export function createValidator(dnsServer: string, httpPort: () => number): Validator {
  const resolver = new Resolver({ timeout: answerMs, tries: 1 })
  resolver.setServers([dnsServer])

  const addressOf = async (name: string): Promise<string> => {
    const addresses = await resolver.resolve4(name).catch((error: Error) => {
      throw new Problem(400, 'dns', `looking up ${name} failed: ${error.message}`)
    })
    return addresses[0] as string
  }

  async function get(name: string, path: string, redirects = 0): Promise<string> {
    const host = await addressOf(name)
    const answer = await new Promise<{ status: number; location: string | undefined; body: string }>((resolve, reject) => {
      const outgoing = request({ host, port: httpPort(), path, headers: { host: name }, timeout: answerMs, agent: false }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text
          if (body.length > bytesMax) response.destroy(new Error('the answer is too long'))
        })
        response.on('end', () => resolve({ status: response.statusCode as number, location: response.headers.location, body }))
        response.on('error', reject)
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')))
      outgoing.on('error', reject)
      outgoing.end()
    }).catch((error: Error) => {
      throw new Problem(400, 'connection', `${name}: ${error.message}`)
    })
    if (answer.location !== undefined && answer.status >= 300 && answer.status < 400) {
      const target = new URL(answer.location, `http://${name}`)
      // Redirects may lead to ports 80 and 443 only. HTTPS is not followed here.
      if (redirects === redirectsMax || target.protocol !== 'http:' || target.port !== '')
        throw unauthorized(`redirected to ${target.href}`)
      return get(target.hostname, target.pathname, redirects + 1)
    }
    if (answer.status !== 200) throw unauthorized(`${name} answered ${answer.status} for ${path}`)
    return answer.body
  }

  return {
    async 'http-01'({ identifier, token, keyAuthorization }) {
      const body = await get(identifier, `/.well-known/acme-challenge/${token}`)
      if (body.trimEnd() !== keyAuthorization) throw unauthorized(`${identifier} gave a wrong key authorization`)
    },

    async 'dns-01'({ identifier, keyAuthorization }) {
      const name = `_acme-challenge.${identifier}`
      const records = await resolver.resolveTxt(name).catch((error: Error) => {
        throw new Problem(400, 'dns', `looking up TXT of ${name} failed: ${error.message}`)
      })
      const wanted = createHash('sha256').update(keyAuthorization).digest('base64url')
      if (!records.some((strings) => strings.join('') === wanted)) throw unauthorized(`no TXT record of ${name} has the right value`)
    },
  }
}
