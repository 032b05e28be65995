// The fields of a webhook in a request: the agents that it names, its events, and its custom headers, which are sealed like its secret.
import type { Caller } from '../../../core/caller.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import { openSecret, sealSecret } from '../../../core/secret-seal.ts'
import { requireReceivable } from '../log/model.ts'
import { eventTypesOf, hasApprovalLinks, type WebhookAgent } from './model.ts'

/** The fields of a webhook that a request sets. */
export type WebhookFields = {
  url?: string
  events?: string[]
  agent_handle?: string | null
  agent_handles?: string[] | null
  headers?: Record<string, string> | null
  description?: string | null
  status?: 'active' | 'paused'
}

type FindAgent = (organizationId: string, handle: string) => Promise<WebhookAgent | null>

/** The agents of a request, or null when it does not name the filter. An empty list stands for all agents. */
export async function findAgents(find: FindAgent, organizationId: string, body: WebhookFields): Promise<WebhookAgent[] | null> {
  if (body.agent_handle !== undefined && body.agent_handles !== undefined)
    throw invalid('/agent_handles', 'agent_handle and agent_handles exclude each other: give one of them')
  const named = body.agent_handles ?? (body.agent_handle == null ? body.agent_handle : [body.agent_handle])
  if (named === undefined) return body.agent_handles === null ? [] : null
  const agents = new Map<string, WebhookAgent>()
  for (const reference of named ?? []) {
    const agent = await find(organizationId, reference.replace(/^@/, ''))
    if (!agent) throw notFound('agent')
    agents.set(agent.identityId, agent)
  }
  return [...agents.values()]
}

/** The event types of a change. Throws 403 for one that the caller may not receive, and 400 for links that approve at an URL of another right. */
export function readEvents(caller: Caller, events: string[], isUrlOfApprover: boolean): string[] {
  requireReceivable(caller, events, 'webhook')
  const types = eventTypesOf(events)
  if (hasApprovalLinks(types) && !isUrlOfApprover)
    throw invalid('/url', 'send url again with these events: it was set by a key that may not approve drafts, and their links approve')
  return types
}

/** Headers that the delivery sets itself, or that change how the connection works. */
const forbiddenNames = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])
const forbiddenPrefixes = ['webhook-', 'svix-', 'proxy-', 'sec-', ':']
const namePattern = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Visible characters and inner blanks (RFC 9110 section 5.5), without line breaks. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

/** The row that the headers are sealed for, apart from that of the secret. */
const rowOf = (webhookId: string): string => `${webhookId} headers`

/** Checks and seals the headers of a request. Throws 400 with the name of the first that is not allowed. */
export function sealHeaders(
  key: Buffer,
  webhookId: string,
  headers: Record<string, string> | null,
): { names: string[]; sealed: Buffer | null } {
  const checked = new Map<string, string>()
  for (const [given, value] of Object.entries(headers ?? {})) {
    const name = given.toLowerCase()
    const path = `/headers/${given}`
    if (!namePattern.test(name)) throw invalid(path, 'is not a header name: use letters, digits and hyphens')
    if (forbiddenNames.has(name) || forbiddenPrefixes.some((prefix) => name.startsWith(prefix)))
      throw invalid(path, 'is a header that the delivery sets itself: remove it')
    if (checked.has(name)) throw invalid(path, 'is given twice, in different case: give it once')
    if (!valuePattern.test(value)) throw invalid(path, 'must be visible ASCII text without line breaks')
    checked.set(name, value)
  }
  if (checked.size === 0) return { names: [], sealed: null }
  const sealed = sealSecret(key, rowOf(webhookId), Buffer.from(JSON.stringify(Object.fromEntries(checked))))
  return { names: [...checked.keys()].toSorted(), sealed }
}

/** The headers to send with a delivery. */
export const openHeaders = (key: Buffer, webhookId: string, sealed: Buffer | null): Record<string, string> =>
  sealed === null ? {} : JSON.parse(openSecret(key, rowOf(webhookId), sealed).toString())
