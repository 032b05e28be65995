// Allow and block lists of an inbox, which are the mail rules of its agent, and of the account, which are those of every agent. A list of
// allowed entries sets the mode `allowlist`.
import { getCaller } from '@callsign/contract/accounts'
import { updateIdentity } from '@callsign/contract/identities'
import { createMailRule, deleteMailRule, everyAgent, listMailRules, type MailRule } from '@callsign/contract/mail-rules'
import type { ReplyOf } from '@callsign/contract/operation'
import { updateOrganization } from '@callsign/contract/organization'
import type { Static } from 'typebox'
import { ApiError } from '../../../core/errors.ts'
import { mailboxOf } from './inboxes.ts'
import {
  AgentMailFailure,
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notOffered,
  notThere,
  optionalText,
  pageLimitMax,
  parameter,
  podId,
  present,
  readList,
  requiredText,
  wrongValue,
} from './route.ts'

type Rule = Static<typeof MailRule>

/** The list that a path names, and the agent that has it. Every agent has that of the account. */
type List = { handle: string; inboxId: string | undefined; way: Way; action: 'allow' | 'block'; organizationId: string }

/** A list for replies has no entries, because every answer by a participant of the thread arrives. */
type Way = 'inbound' | 'outbound' | 'replies'
const directions: Record<string, Way> = { send: 'outbound', receive: 'inbound', reply: 'replies' }

async function listIn(request: AgentMailRequest): Promise<List> {
  const [direction, action] = [parameter(request, 'direction'), parameter(request, 'type')]
  const way = Object.hasOwn(directions, direction) ? directions[direction] : undefined
  if (way === undefined || (action !== 'allow' && action !== 'block'))
    throw wrongValue('The direction is `send`, `receive` or `reply`, and the type is `allow` or `block`.')
  const isOfAccount = request.params.inbox_id === undefined
  const [mailbox, { organization_id }] = await Promise.all([isOfAccount ? undefined : mailboxOf(request), request.call(getCaller)])
  return { handle: mailbox?.agent_handle ?? everyAgent, inboxId: mailbox?.email_address, way, action, organizationId: organization_id }
}

const toEntry = (rule: Rule, { inboxId, way, organizationId }: List) => ({
  entry: rule.entry,
  organization_id: organizationId,
  pod_id: podId,
  ...(inboxId !== undefined && { inbox_id: inboxId }),
  ...(rule.reason !== null && { reason: rule.reason }),
  direction: way === 'inbound' ? 'receive' : 'send',
  list_type: rule.action,
  entry_type: rule.entry_type === 'address' ? 'email' : 'domain',
  created_at: rule.created_at,
  // A rule for both directions is in two lists.
  read_only: rule.direction === 'both',
})

/** Active rules of a list up to a limit, and the position after them. */
async function readRules(request: AgentMailRequest, list: List, limit: number, more: { entry?: string; cursor?: string }) {
  const rules: Rule[] = []
  if (list.way === 'replies') return { rules, next: null }
  for (let cursor: string | null | undefined = more.cursor; cursor !== null; ) {
    const page: ReplyOf<typeof listMailRules> = await request.call(listMailRules, {
      params: { handle: list.handle },
      query: { action: list.action, status: 'active', limit: pageLimitMax, ...present({ entry: more.entry, cursor }) },
    })
    for (const rule of page.data) {
      if (rule.direction === list.way || rule.direction === 'both') rules.push(rule)
      if (rules.length === limit) return { rules, next: rule.id === page.data.at(-1)?.id ? page.next_cursor : rule.id }
    }
    cursor = page.next_cursor
  }
  return { rules, next: null }
}

async function find(request: AgentMailRequest, list: List): Promise<Rule> {
  const { rules } = await readRules(request, list, 1, { entry: parameter(request, 'entry') })
  if (!rules[0]) throw notThere('List entry')
  return rules[0]
}

async function setMode(request: AgentMailRequest, { handle, way }: List, mode: 'open' | 'allowlist'): Promise<void> {
  const body = way === 'inbound' ? { inbound_mode: mode } : { outbound_mode: mode }
  if (handle === everyAgent) await request.call(updateOrganization, { body })
  else await request.call(updateIdentity, { params: { handle }, body })
}

async function create(request: AgentMailRequest) {
  const list = await listIn(request)
  if (list.way === 'replies') throw notOffered('An entry in a list for replies')
  const { way } = list
  const [entry, reason] = [requiredText(request, 'entry'), optionalText(request, 'reason')]
  const rule = await request
    .call(createMailRule, {
      params: { handle: list.handle },
      body: { direction: way, action: list.action, entry, ...present({ reason }) },
    })
    .catch(async (error: unknown) => {
      // A repeated request finds the entry.
      const isThere = error instanceof ApiError && error.code === 'conflict'
      const { rules } = isThere ? await readRules(request, list, 1, { entry }) : { rules: [] }
      if (rules[0]) return rules[0]
      throw error
    })
  if (list.action === 'allow') await setMode(request, list, 'allowlist')
  return toEntry(rule, list)
}

/** Deletes an entry. Without the last allowed one, mail from everyone is accepted again. */
async function remove(request: AgentMailRequest): Promise<void> {
  const list = await listIn(request)
  const rule = await find(request, list)
  if (rule.direction === 'both')
    throw new AgentMailFailure(403, 'ForbiddenError', 'read_only', 'This entry is a rule for both directions. Change it with our own API.')
  await request.call(deleteMailRule, { params: { handle: list.handle, rule_id: rule.id } })
  if (list.action === 'allow' && (await readRules(request, list, 1, {})).rules.length === 0) await setMode(request, list, 'open')
}

export const listRoutes: AgentMailRoute[] = ['', '/inboxes/:inbox_id'].flatMap((scope): AgentMailRoute[] => {
  const isInPod = scope === ''
  const path = `${scope}/lists/:direction/:type`
  return [
    {
      method: 'GET',
      path,
      isInPod,
      async run(request) {
        const list = await listIn(request)
        const { data, limit, next } = await readList(request, {
          kind: 'mailRule',
          positionOf: byId,
          async read(page) {
            const { rules, next } = await readRules(request, list, page.limit, page)
            return { data: rules, next_cursor: next }
          },
        })
        return listOf(
          'entries',
          data.map((rule) => toEntry(rule, list)),
          limit,
          next,
        )
      },
    },
    { method: 'POST', path, isInPod, run: create },
    {
      method: 'GET',
      path: `${path}/:entry`,
      isInPod,
      async run(request) {
        const list = await listIn(request)
        return toEntry(await find(request, list), list)
      },
    },
    { method: 'DELETE', path: `${path}/:entry`, isInPod, run: remove },
  ]
})
