// Builds SMTP submission: servers for the agents' own mail programs, which send through the API.

import { requestApproval } from '@callsign/contract/approvals'
import { messageBytesMax } from '@callsign/contract/attachments'
import { createDraft } from '@callsign/contract/drafts'
import { recipientsMax, sendMail } from '@callsign/contract/outbound-mail'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/settings.ts'
import { hasScope } from '../core/caller.ts'
import { nowMs } from '../core/clock.ts'
import { ApiError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { addressName, TokenBuckets } from '../edges/api/rate-limit.ts'
import type { Pages } from '../edges/api/server.ts'
import { type ApiCall, createApiCall } from '../edges/compat/api-calls.ts'
import { createSmtpServer, type SmtpServer, type SmtpServerOptions } from '../edges/smtp/server/listener.ts'
import { createSignIn, createSubmissionReceiver, type SubmissionApi, type Submitter } from '../edges/smtp/server/submission.ts'
import type { ServerParts } from './server.ts'

/** Wrong credentials of one address: as for the API, a burst and then one each five seconds. */
const failuresPerSecond = 0.2
const failuresBurst = 20

type Needs = {
  config: Config
  parts: ServerParts
  log: Log
  smtp: Pick<SmtpServerOptions, 'freeBytes' | 'spoolFolder' | 'tls'>
}

/** The servers of a process with the api role, by their names for the operator, and a page that lends them the API. */
export function createSubmission({ config, parts, log, smtp }: Needs): { servers: [string, SmtpServer][]; pages: Pages[] } {
  if (!config.roles.includes('api')) return { servers: [], pages: [] }
  let app: FastifyInstance | null = null
  const api = createSubmissionApi(parts, ({ key, address }, idempotencyKey) =>
    createApiCall(app as FastifyInstance, {
      ip: address,
      headers: {
        authorization: `Bearer ${key}`,
        'user-agent': 'SMTP',
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
    }),
  )
  const failures = new TokenBuckets(failuresPerSecond, failuresBurst)
  const signIn = createSignIn(api, (address) => failures.take(addressName(address), nowMs()) > 0)
  const receiver = createSubmissionReceiver(api)
  const start = (port: number, isTlsFirst: boolean) =>
    createSmtpServer(
      {
        ...smtp,
        host: config.host,
        port,
        hostname: config.mailDomain,
        sizeBytesMax: messageBytesMax,
        log: log.child({ part: 'submission' }),
        signIn,
        isTlsFirst,
        limits: { recipientsMax, connectionsPerAddressMax: config.smtpConnectionsPerClient, isLoopbackLimited: false },
      },
      receiver,
    )
  const servers: [string, SmtpServer][] = []
  if (config.submissionPort !== null) servers.push(['submission', start(config.submissionPort, false)])
  if (config.submissionsPort !== null) servers.push(['submission over TLS', start(config.submissionsPort, true)])
  const mount = (mounted: FastifyInstance) => {
    app = mounted
  }
  return { servers, pages: [{ paths: [], mount }] }
}

type CallFor = (submitter: Submitter, idempotencyKey: string | null) => ApiCall

function createSubmissionApi({ console: accounts, identities, messages }: ServerParts, callFor: CallFor): SubmissionApi {
  const findCaller = ({ key, address }: Submitter) => accounts.authenticate(key, { address, userAgent: 'SMTP' })

  return {
    async isAllowed(submitter) {
      try {
        const caller = await findCaller(submitter)
        if (!caller || !hasScope(caller, 'mail:send')) return false
        await identities.requireMailbox(caller, submitter.username)
        return true
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) return false
        throw error
      }
    },

    async findThread(submitter, references) {
      const caller = await findCaller(submitter)
      if (!caller) return null
      const { mailboxId } = await identities.requireMailbox(caller, submitter.username)
      return messages.findReferencedThread(mailboxId, references)
    },

    async send(submitter, body, key) {
      const { id } = await callFor(submitter, key)(sendMail, { body: { ...body, agent: submitter.username } })
      return id
    },

    async requestApproval(submitter, body, key) {
      const call = callFor(submitter, key && `${key}-draft`)
      const { thread_id: _, automatic: __, ...fields } = body
      const { id, version, status } = await call(createDraft, { params: { email_address: submitter.username }, body: fields as never })
      if (status === 'draft')
        await call(requestApproval, { params: { email_address: submitter.username, draft_id: id }, body: { version } as never })
      return id
    },
  }
}
