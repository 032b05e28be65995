// The fields of a webhook in a request, and the agents that it names.
import type { Caller } from '../../../core/caller.ts'
import { invalid, notFound } from '../../../core/errors.ts'
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
