// Tools for the identity itself, its tunnel, its secrets and its events.
import Type from 'typebox'
import { listEvents } from '../events/events.ts'
import { getCaller } from '../operations/account/accounts.ts'
import { getIdentity, listIdentities } from '../operations/account/identities.ts'
import { nullableString } from '../schema.ts'
import { getTunnel, listTunnelRequests } from '../tunnel/tunnels.ts'
import { listVaultSecrets } from '../vault/secrets.ts'
import { count, Limit, NextCursor, outputOf, PageCursor } from './argument-shapes.ts'
import { FencedText, foreign, type Reply, reads, tool } from './tool.ts'

const pathCharactersMax = 2000
const tunnel = { toolset: 'tunnel', takesAgent: true, scopes: ['tunnels:read'] } as const

export const identityTools = [
  tool({
    ...reads,
    isOpenWorld: false,
    toolset: 'events',
    takesAgent: true,
    scopes: [],
    name: 'whoami',
    title: 'Show the identity',
    description:
      'Returns the agent that you act for: its address, its public URL, and whether its mail needs the approval of a person. Call it first. With a key of several agents, it lists them.',
    input: Type.Object({}),
    output: outputOf({
      organization: Type.String(),
      agent: Type.Optional(Type.String()),
      email_address: Type.Optional(Type.String()),
      local_url: Type.Optional(nullableString()),
      public_url: Type.Optional(Type.String()),
      mail_needs_approval: Type.Optional(Type.Boolean()),
      agents: Type.Optional(
        Type.Array(Type.Object({ agent: Type.String(), email_address: Type.String(), mail_needs_approval: Type.Boolean() })),
      ),
      has_more: Type.Optional(Type.Boolean({ description: 'True if the organization has more agents than are listed.' })),
    }),
    request: () => ({ operation: getCaller }),
    next: ({ agent }) =>
      agent === '' ? { operation: listIdentities, query: { limit: 50 } } : { operation: getIdentity, params: { handle: agent } },
    result: ({ agent }, caller, second) => (agent === '' ? toChoice(caller, second) : toIdentity(caller, second)),
  }),

  tool({
    ...tunnel,
    ...reads,
    isOpenWorld: false,
    name: 'tunnel_status',
    title: 'Show the tunnel',
    description: 'Returns the public URL of the agent, and whether a program is connected to it.',
    input: Type.Object({}),
    output: outputOf({
      local_url: nullableString(),
      public_url: Type.String(),
      status: Type.String(),
      is_connected: Type.Boolean(),
      last_request_at: NextCursor,
    }),
    request: ({ agent }) => ({ operation: getTunnel, params: { handle: agent } }),
    result: (_input, { public_url, local_url, status, is_connected, last_request_at }) => ({
      summary: `${local_url ?? public_url} is ${status}, and ${is_connected ? 'a program is connected' : 'nothing is connected'}.`,
      local_url,
      public_url,
      status,
      is_connected,
      last_request_at,
    }),
  }),

  tool({
    ...tunnel,
    ...reads,
    name: 'tunnel_requests',
    title: 'List requests to the tunnel',
    description: 'Lists the latest requests to the public URL, newest first, with status and duration.',
    input: Type.Object({ limit: Limit, cursor: PageCursor }),
    output: outputOf({
      requests: Type.Array(
        Type.Object({
          id: Type.String(),
          status: Type.Union([Type.Integer(), Type.Null()]),
          duration_ms: Type.Integer(),
          created_at: Type.String(),
          content: FencedText,
        }),
      ),
      next_cursor: NextCursor,
    }),
    request: ({ agent, limit = 10, cursor }) => ({
      operation: listTunnelRequests,
      params: { handle: agent },
      query: { limit, ...(cursor ? { cursor } : {}) },
    }),
    result: (_input, reply) => ({
      summary: `${count(reply.data.length, 'request')}, newest first.`,
      requests: reply.data.map((one: Reply) => ({
        id: one.id,
        status: one.status,
        duration_ms: one.duration_ms,
        created_at: one.created_at,
        content: foreign(`${one.method} ${one.path}`.slice(0, pathCharactersMax)),
      })),
      next_cursor: reply.next_cursor,
    }),
  }),

  tool({
    ...reads,
    isOpenWorld: false,
    toolset: 'vault',
    takesAgent: false,
    scopes: ['vault:read'],
    name: 'vault_list',
    title: 'List secrets',
    description:
      'Lists the names and types of the secrets that the key can read. No tool returns a value. To use one, run `callsign vault run -- COMMAND` on the machine of the agent.',
    input: Type.Object({ limit: Limit, cursor: PageCursor }),
    output: outputOf({
      secrets: Type.Array(Type.Object({ id: Type.String(), type: Type.String(), updated_at: Type.String(), name: FencedText })),
      next_cursor: NextCursor,
    }),
    request: ({ limit = 10, cursor }) => ({ operation: listVaultSecrets, query: { limit, ...(cursor ? { cursor } : {}) } }),
    result: (_input, reply) => ({
      summary: `${count(reply.data.length, 'secret')}.`,
      secrets: reply.data.map((one: Reply) => ({ id: one.id, type: one.type, updated_at: one.updated_at, name: foreign(one.name) })),
      next_cursor: reply.next_cursor,
    }),
  }),

  tool({
    ...reads,
    toolset: 'events',
    takesAgent: true,
    scopes: ['events:read'],
    name: 'events_since',
    title: 'List events',
    description:
      'Lists the events of the agent, oldest first: mail, texts, iMessage, tunnel. Keep next_cursor, and give it as cursor next time, so that you miss nothing.',
    input: Type.Object({
      cursor: PageCursor,
      types: Type.Optional(
        Type.String({ minLength: 1, maxLength: 500, description: 'Event types, separated by commas, such as email.received.' }),
      ),
      limit: Limit,
    }),
    output: outputOf({
      events: Type.Array(
        Type.Object({ id: Type.String(), type: Type.String(), timestamp: Type.String(), content: Type.Optional(FencedText) }),
      ),
      next_cursor: NextCursor,
      has_more: Type.Boolean(),
    }),
    request: ({ agent, cursor, types, limit = 10 }) => ({
      operation: listEvents,
      query: { agent, limit, ...(cursor ? { cursor } : {}), ...(types ? { types } : {}) },
    }),
    result: (input, reply) => ({
      summary: `${count(reply.data.length, 'event')}, oldest first.`,
      events: reply.data.map(toEvent),
      next_cursor: reply.data.at(-1)?.id ?? input.cursor ?? null,
      has_more: reply.has_more,
    }),
  }),
]

const toIdentity = (caller: Reply, identity: Reply) => ({
  summary: `You act for ${identity.agent_handle}, ${identity.mailbox_address}.`,
  agent: identity.agent_handle,
  email_address: identity.mailbox_address,
  local_url: identity.tunnel.local_url,
  public_url: identity.tunnel.public_url,
  mail_needs_approval: identity.draft_approval === 'required',
  organization: caller.organization_name,
})

const toChoice = (caller: Reply, { data, has_more }: Reply) => ({
  summary:
    data.length === 0
      ? 'The organization has no agent yet. Create one in the console.'
      : `This key acts for ${count(data.length, 'agent')}. Give the one that you act for as agent in every call.`,
  organization: caller.organization_name,
  agents: data.map((one: Reply) => ({
    agent: one.agent_handle,
    email_address: one.mailbox_address,
    mail_needs_approval: one.draft_approval === 'required',
  })),
  has_more,
})

/** Facts of an event that the server chose, and facts that people outside chose. */
const ownFacts = ['thread_id', 'conversation_id', 'status'] as const
const foreignFacts = ['from', 'from_number', 'sender', 'subject', 'domain'] as const

/** The facts of an event that fit in a list. */
function toEvent({ id, type, timestamp, data }: Reply) {
  const textsOf = (names: readonly string[]): [string, string][] =>
    names.flatMap((name) => (typeof data[name] === 'string' ? [[name, data[name].replace(/\s+/g, ' ').slice(0, 300)]] : []))
  const content = textsOf(foreignFacts).map(([name, text]) => `${name}: ${text}`)
  return {
    id,
    type,
    timestamp,
    ...(typeof data.id === 'string' && { subject_id: data.id }),
    ...Object.fromEntries(textsOf(ownFacts)),
    ...(content.length > 0 && { content: foreign(content.join('\n')) }),
  }
}
