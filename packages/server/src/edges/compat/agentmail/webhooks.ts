// Webhooks, of the account and of one inbox. Their bodies have the shape of AgentMail's.

import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook, type Webhook } from '@callsign/contract/webhooks'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { agentMailTypesOf, ownTypesOf } from './events.ts'
import { handleOf, handlesOf, inboxIdsOf } from './inboxes.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notOffered,
  notThere,
  optionalList,
  optionalText,
  pageLimitMax,
  parameter,
  podId,
  present,
  readList,
  requiredText,
  wrongValue,
} from './route.ts'

type OwnWebhook = Static<typeof Webhook>

/** Pages of webhooks that one request reads for an inbox. */
const pagesMax = 10

async function shown(call: ApiCall, webhook: OwnWebhook, secret = '') {
  const inboxIds = [...(await inboxIdsOf(call, webhook.agent_handles)).values()]
  return {
    webhook_id: webhook.id,
    url: webhook.url,
    event_types: agentMailTypesOf(webhook.events),
    ...(inboxIds.length > 0 && { inbox_ids: inboxIds }),
    // Only the answer of the creation has the secret.
    secret,
    enabled: webhook.status === 'active',
    ...(webhook.client_id !== null && { client_id: webhook.client_id }),
    updated_at: webhook.updated_at,
    created_at: webhook.created_at,
  }
}

function checkPods(request: AgentMailRequest, ...names: string[]): void {
  const others = names.flatMap((name) => optionalList(request, name) ?? []).filter((id) => id !== podId)
  if (others.length > 0) throw notThere('Pod')
}

function headersOf({ body }: AgentMailRequest): Record<string, string> | undefined {
  if (body.headers === undefined || body.headers === null) return undefined
  if (typeof body.headers !== 'object' || Array.isArray(body.headers)) throw wrongValue('`headers` must be an object.')
  return body.headers as Record<string, string>
}

/** The handle of the inbox in the path, or null for the account. */
const ownHandle = async (request: AgentMailRequest): Promise<string | null> =>
  request.params.inbox_id === undefined ? null : handleOf(request)

/** A webhook of the scope. Those of an inbox receive its events only. */
async function find(request: AgentMailRequest): Promise<OwnWebhook> {
  const [handle, webhook] = await Promise.all([
    ownHandle(request),
    request.call(getWebhook, { params: { id: parameter(request, 'webhook_id') } }),
  ])
  if (!isIn(webhook, handle)) throw notThere('Webhook')
  return webhook
}

const isIn = ({ agent_handles }: OwnWebhook, handle: string | null): boolean =>
  handle === null || (agent_handles.length === 1 && agent_handles[0] === handle)

async function list(request: AgentMailRequest) {
  const handle = await ownHandle(request)
  const read = (page: { limit: number; cursor?: string }) => listFiltered(request, handle, page)
  const { data, limit, next } = await readList(request, { kind: 'webhook', positionOf: byId, read })
  return listOf('webhooks', await Promise.all(data.map((webhook) => shown(request.call, webhook))), limit, next)
}

async function listFiltered(request: AgentMailRequest, handle: string | null, page: { limit: number; cursor?: string }) {
  const webhooks: OwnWebhook[] = []
  let cursor: string | null | undefined = page.cursor
  for (let read = 0; read < pagesMax && cursor !== null && webhooks.length < page.limit; read++) {
    const query = { limit: handle === null ? page.limit : pageLimitMax, ...present({ cursor }) }
    const found: ReplyOf<typeof listWebhooks> = await request.call(listWebhooks, { query })
    const wanted = found.data.filter((webhook) => isIn(webhook, handle))
    const kept = wanted.slice(0, page.limit - webhooks.length)
    webhooks.push(...kept)
    cursor = kept.length < wanted.length ? (kept.at(-1)?.id ?? null) : found.next_cursor
  }
  return { data: webhooks, next_cursor: cursor ?? null }
}

async function create(request: AgentMailRequest) {
  checkPods(request, 'pod_ids')
  const handle = await ownHandle(request)
  const inboxIds = optionalList(request, 'inbox_ids') ?? []
  if (handle !== null && inboxIds.length > 0) throw wrongValue('`inbox_ids` is not a field of the webhook of an inbox.')
  const handles = handle === null ? await handlesOf(request.call, inboxIds) : [handle]
  const made = await request.call(createWebhook, {
    body: {
      url: requiredText(request, 'url'),
      events: ownTypesOf(optionalList(request, 'event_types')),
      format: 'agentmail',
      ...present({
        agent_handles: handles.length > 0 ? handles : undefined,
        headers: headersOf(request),
        client_id: optionalText(request, 'client_id'),
      }),
    },
  })
  return shown(request.call, made, made.secret ?? '')
}

/** The agents after a change. A webhook of some inboxes cannot become one of all. */
async function changedAgents(request: AgentMailRequest, webhook: OwnWebhook): Promise<string[] | undefined> {
  const [added, removed] = [optionalList(request, 'add_inbox_ids') ?? [], optionalList(request, 'remove_inbox_ids') ?? []]
  if (added.length + removed.length === 0) return undefined
  if (request.params.inbox_id !== undefined) throw wrongValue('The webhook of an inbox keeps its inbox.')
  const gone = await handlesOf(request.call, removed)
  const handles = [...new Set([...webhook.agent_handles, ...(await handlesOf(request.call, added))])].filter(
    (handle) => !gone.includes(handle),
  )
  if (handles.length === 0) throw wrongValue('`remove_inbox_ids` names the last inboxes of this webhook. Delete the webhook instead.')
  return handles
}

async function update(request: AgentMailRequest) {
  checkPods(request, 'add_pod_ids', 'remove_pod_ids')
  const webhook = await find(request)
  const names = optionalList(request, 'event_types') ?? []
  const body: NonNullable<BodyOf<typeof updateWebhook>> = present({
    events: names.length > 0 ? ownTypesOf(names) : undefined,
    agent_handles: await changedAgents(request, webhook),
  })
  if (Object.keys(body).length === 0) return shown(request.call, webhook)
  return shown(request.call, await request.call(updateWebhook, { params: { id: webhook.id }, body }))
}

/** Sets and removes headers. Their values are write-only, so a request names every header that the webhook has. */
async function updateHeaders(request: AgentMailRequest): Promise<void> {
  const webhook = await find(request)
  const [headers, removed] = [headersOf(request) ?? {}, optionalList(request, 'remove_headers') ?? []]
  const [set, gone] = [Object.keys(headers), removed].map((names) => names.map((name) => name.toLowerCase())) as [string[], string[]]
  if (set.length + gone.length === 0) throw wrongValue('`headers` or `remove_headers` is required.')
  const both = set.find((name) => gone.includes(name))
  if (both !== undefined) throw wrongValue(`The header ${both} cannot be set and removed at once.`)
  const left = webhook.header_names.filter((name) => !set.includes(name) && !gone.includes(name))
  if (left.length > 0) throw notOffered(`A change of headers that leaves others as they are (${left.join(', ')})`)
  const body = { headers: set.length > 0 ? headers : null }
  await request.call(updateWebhook, { params: { id: webhook.id }, body })
}

export const webhookRoutes: AgentMailRoute[] = ['', '/inboxes/:inbox_id'].flatMap((scope): AgentMailRoute[] => {
  const isInPod = scope === ''
  const [path, onePath] = [`${scope}/webhooks`, `${scope}/webhooks/:webhook_id`]
  return [
    { method: 'GET', path, isInPod, run: list },
    { method: 'POST', path, isInPod, run: create },
    { method: 'GET', path: onePath, isInPod, run: async (request) => shown(request.call, await find(request)) },
    { method: 'PATCH', path: onePath, isInPod, run: update },
    { method: 'GET', path: `${onePath}/headers`, isInPod, run: async (request) => ({ header_names: (await find(request)).header_names }) },
    { method: 'PATCH', path: `${onePath}/headers`, isInPod, run: updateHeaders },
    {
      method: 'DELETE',
      path: onePath,
      isInPod,
      async run(request) {
        const { id } = await find(request)
        await request.call(deleteWebhook, { params: { id } })
      },
    },
  ]
})
