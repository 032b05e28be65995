// Answers to the challenges of an authority: over HTTP from the database, and over DNS by a program of the operator.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { IssuedCertificates } from '../../core/issued-certificates.ts'
import type { Solver } from './authority.ts'

/** Time for a program to publish a record and to wait until it can be looked up. */
const hookMsMax = 600_000
const outputBytesMax = 64 * 1024

type Store = Pick<IssuedCertificates, 'addChallenge' | 'removeChallenge' | 'findChallenge'>

/** Every process of the installation answers, because the authority may reach any of them. */
export const httpSolver = (store: Store): Solver => ({
  type: 'http-01',
  async present(_identifier, token, keyAuthorization) {
    await store.addChallenge(token, keyAuthorization)
    return () => store.removeChallenge(token)
  },
})

/** Runs `PROGRAM add NAME VALUE`, and `PROGRAM remove NAME VALUE` at the end (RFC 8555 §8.4). */
export const dnsSolver = (program: string): Solver => ({
  type: 'dns-01',
  async present(identifier, _token, value) {
    const name = `_acme-challenge.${identifier}`
    const run = (action: string) => promisify(execFile)(program, [action, name, value], { timeout: hookMsMax, maxBuffer: outputBytesMax })
    await run('add')
    return async () => void (await run('remove'))
  },
})

export const challengeRoute = '/.well-known/acme-challenge/{token}'

// Tokens have at least 128 bits in base64url (RFC 8555 §8.3).
const tokenPattern = /^[A-Za-z0-9_-]{22,128}$/

/** Adds the page of HTTP-01 (RFC 8555 §8.3). An unknown token gets 404. */
export function mountChallenges(app: FastifyInstance, store: Store): void {
  app.get('/.well-known/acme-challenge/:token', async (request, reply) => {
    request.pattern = challengeRoute
    const { token } = request.params as { token: string }
    const answer = tokenPattern.test(token) ? await store.findChallenge(token) : null
    return answer === null
      ? reply.code(404).type('text/plain').send('No such challenge.\n')
      : reply.type('application/octet-stream').header('cache-control', 'no-store').send(answer)
  })
}
