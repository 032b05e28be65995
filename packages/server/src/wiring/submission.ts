// Builds SMTP submission: servers for the agents' own mail programs, which send through the API.

import { requestApproval } from '@callsign/contract/approvals'
import { messageBytesMax } from '@callsign/contract/attachments'
import { createDraft } from '@callsign/contract/drafts'
import { recipientsMax } from '@callsign/contract/outbound-mail'
import type { Config } from '../config/settings.ts'
import type { ApiCalls } from '../core/api-call.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import { hasScope } from '../core/caller.ts'
import { clientGroup } from '../core/client-address.ts'
import { nowMs } from '../core/clock.ts'
import { ApiError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { TokenBuckets } from '../edges/api/authenticate.ts'
import type { Pages } from '../edges/api/pages.ts'
import { createSmtpServer, type SmtpServer, type SmtpServerOptions } from '../edges/smtp/server/listener.ts'
import { createSignIn, createSubmissionReceiver, type SubmissionApi } from '../edges/smtp/server/submission.ts'
import { submitMessage } from '../features/mail/outbound/submission.ts'
import { toDraftBody } from '../features/mail/outbound/submitted-message.ts'
import { createAutoconfigPages } from './autoconfig.ts'
import type { ServerParts } from './server.ts'

/** Wrong credentials of one address: as for the API, a burst and then one each five seconds. */
const failuresPerSecond = 0.2
const failuresBurst = 20

/** The User-Agent of the API's log. */
const userAgent = 'SMTP'

type Needs = {
  config: Config
  parts: ServerParts
  log: Log
  businessEvents: BusinessEvents
  smtp: Pick<SmtpServerOptions, 'freeBytes' | 'spoolFolder' | 'tls'>
}

/** The servers of a process with the api role, by their names for the operator, and a page through which they get the operations. */
export function createSubmission({ config, parts, log, businessEvents, smtp }: Needs): { servers: [string, SmtpServer][]; pages: Pages[] } {
  if (!config.roles.includes('api')) return { servers: [], pages: [] }
  let apiCalls: ApiCalls | null = null
  const api = createSubmissionApi(parts, () => apiCalls as ApiCalls)
  const failures = new TokenBuckets(failuresPerSecond, failuresBurst)
  const isThrottled = (address: string): boolean => failures.take(clientGroup(address), nowMs()) > 0
  const signIn = createSignIn(api, isThrottled, (outcome) => businessEvents.submissionSignInTried({ outcome }))
  const receiver = createSubmissionReceiver(api, (id) => businessEvents.mailSubmitted({ message_id: id }))
  const start = (port: number, isTlsFirst: boolean) =>
    createSmtpServer(
      {
        ...smtp,
        host: config.host,
        port,
        hostname: config.mailDomain,
        sizeBytesMax: messageBytesMax,
        log: log.child({ part: 'submission' }),
        onRefusal: (session_id, reply_code) => businessEvents.mailRefused({ listener: 'submission', session_id, reply_code }),
        signIn,
        isTlsFirst,
        limits: { recipientsMax, connectionsPerAddressMax: config.smtpConnectionsPerClient, isLoopbackLimited: false },
      },
      receiver,
    )
  const servers: [string, SmtpServer][] = []
  if (config.submissionPort !== null) servers.push(['submission', start(config.submissionPort, false)])
  if (config.submissionsPort !== null) servers.push(['submission over TLS', start(config.submissionsPort, true)])
  const mount: Pages['mount'] = (_app, tools) => {
    apiCalls = tools.apiCalls
  }
  return { servers, pages: [{ paths: [], mount }, ...createAutoconfigPages(config, parts)] }
}

function createSubmissionApi({ console: accounts, identities, submissions }: ServerParts, apiCalls: () => ApiCalls): SubmissionApi {
  return {
    async isAllowed({ username, key, address }) {
      try {
        const caller = await accounts.authenticate(key, { address, userAgent })
        if (!caller || !hasScope(caller, 'mail:send')) return false
        await identities.requireMailbox(caller, username)
        return true
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) return false
        throw error
      }
    },

    async open({ username, key, address }, { raw, recipients }) {
      const headers = { authorization: `Bearer ${key}`, 'user-agent': userAgent }
      const caller = await apiCalls().authenticate({ headers, socket: { remoteAddress: address } })
      const { call } = apiCalls().as(caller)
      const params = { email_address: username }
      const read = await submissions.read(raw, recipients)
      return {
        send: (key) =>
          submissions.withName(read, async (submission) => {
            const { id } = await call(submitMessage, { params, body: { submission }, idempotencyKey: key ?? undefined })
            return id
          }),

        async requestApproval(key) {
          const idempotencyKey = key === null ? undefined : `${key}-draft`
          const body = toDraftBody(read.submission)
          const { id, version, status } = await call(createDraft, { params, body, idempotencyKey })
          const approval = { params: { ...params, draft_id: id }, body: { version } as never, idempotencyKey }
          if (status === 'draft') await call(requestApproval, approval).catch(unlessGone)
          return id
        },
      }
    },
  }
}

/** A message that is submitted again may have been approved and sent, or deleted, since its approval was requested. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
}
