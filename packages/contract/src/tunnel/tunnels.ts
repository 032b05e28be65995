// Network tunnels, with their status, the latest requests, and replays.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Cursor, described, id, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from '../schema.ts'

export const tunnelStatuses = ['active', 'suspended', 'disabled'] as const
export type TunnelStatus = (typeof tunnelStatuses)[number]
const Status = Type.Unsafe<TunnelStatus>({ type: 'string', enum: [...tunnelStatuses] })

export const tunnelCaptures = ['off', 'headers', 'bodies'] as const
export type TunnelCapture = (typeof tunnelCaptures)[number]
const Capture = Type.Unsafe<TunnelCapture>({
  type: 'string',
  enum: [...tunnelCaptures],
  description:
    'The parts of each request that the inspector keeps besides its first line: nothing, headers, or headers and the first 64 KB of bodies (the default). Secrets are masked.',
})

export const PublicUrl = Type.String({ description: 'The address over HTTPS. It works where the tunnel domain has a certificate.' })
export const LocalUrl = nullableString({
  description:
    'The address that works on a server without a certificate, over HTTP at the port of the server. null where `public_url` works.',
})

export const Tunnel = Type.Object(
  {
    id: Type.String(),
    agent_id: Type.String(),
    agent_handle: Type.String(),
    public_url: PublicUrl,
    local_url: LocalUrl,
    status: Status,
    is_connected: Type.Boolean(),
    connected_clients: Type.Integer({ minimum: 0 }),
    last_request_at: nullableTimestamp,
    capture: Capture,
    connect_url: nullableString({ description: 'The address for clients, if it differs from the address of the API.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Tunnel' },
)

const tunnelParam = Type.String({ minLength: 1, description: 'The agent handle, or the tunnel id.' })
const tunnelParams = strict({ handle: tunnelParam })

export const listTunnels = operation({
  id: 'listTunnels',
  method: 'GET',
  path: '/api/v1/tunnels',
  summary: 'Lists tunnels, newest first. The id of the last item is the cursor of the next page.',
  tag: 'Network tunnels',
  scopes: ['tunnels:read'],
  query: strict({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'The most items of a page.' })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The id of the last item of the previous page.' })),
    status: Type.Optional(described(Status, 'Only tunnels with this status.')),
  }),
  status: 200,
  reply: page(Tunnel),
})

export const getTunnel = operation({
  id: 'getTunnel',
  method: 'GET',
  path: '/api/v1/tunnels/{handle}',
  summary: 'Gets one tunnel.',
  tag: 'Network tunnels',
  scopes: ['tunnels:read'],
  params: tunnelParams,
  status: 200,
  reply: Tunnel,
})

export const updateTunnel = operation({
  id: 'updateTunnel',
  method: 'PATCH',
  path: '/api/v1/tunnels/{handle}',
  summary: 'Sets the status of a tunnel, or the capture mode of its inspector. Any status may follow any other.',
  tag: 'Network tunnels',
  scopes: ['tunnels:write'],
  params: tunnelParams,
  body: strict(
    {
      status: Type.Optional(
        described(Status, 'active serves requests, suspended answers 503 and keeps its clients, disabled disconnects them.'),
      ),
      capture: Type.Optional(Capture),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Tunnel,
})

const Headers = Type.Unsafe<[string, string][] | null>({
  anyOf: [{ type: 'array', items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 } }, { type: 'null' }],
  description: 'Names and values in the order received, with secrets masked. null if they were not captured.',
})

export const TunnelRequest = Type.Object(
  {
    id: Type.String(),
    tunnel_id: Type.String(),
    method: Type.String(),
    path: Type.String(),
    status: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Null when no answer was sent.' }),
    error: nullableString({ description: 'The code of the error that prevented an answer from the target. null if the target answered.' }),
    remote_address: Type.String(),
    request_bytes: Type.Integer({ minimum: 0 }),
    response_bytes: Type.Integer({ minimum: 0 }),
    duration_ms: Type.Integer({ minimum: 0 }),
    replay_of: nullableString(),
    request_headers: Headers,
    response_headers: Headers,
    request_body: nullableString({ description: 'Base64. null if it was not captured.' }),
    response_body: nullableString({ description: 'Base64. null if it was not captured.' }),
    request_body_truncated: Type.Boolean(),
    response_body_truncated: Type.Boolean(),
    replay_refusal: nullableString({ description: 'Why a replay without changes is refused. null if it can be sent.' }),
    created_at: Timestamp,
  },
  { $id: 'TunnelRequest' },
)

export const listTunnelRequests = operation({
  id: 'listTunnelRequests',
  method: 'GET',
  path: '/api/v1/tunnels/{handle}/requests',
  summary: 'Lists the latest requests through a tunnel, newest first.',
  tag: 'Network tunnels',
  scopes: ['tunnels:read'],
  params: tunnelParams,
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(TunnelRequest),
})

/** A header field: a name (RFC 9110 §5.6.2), and a value without line ends. */
const HeaderField = Type.Tuple([
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$" }),
  Type.String({ pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$', maxLength: 8192 }),
])

export const replayTunnelRequest = operation({
  id: 'replayTunnelRequest',
  method: 'POST',
  path: '/api/v1/tunnels/{handle}/requests/{tunnel_request_id}/replay',
  summary: 'Sends a captured request through the tunnel again, with changes if you give some, and returns the result.',
  tag: 'Network tunnels',
  scopes: ['tunnels:write'],
  params: strict({ handle: tunnelParam, tunnel_request_id: id('tunnelRequest') }),
  body: strict({
    method: Type.Optional(Type.String({ pattern: '^(?!CONNECT$)[A-Z][A-Z-]{0,31}$', description: 'Any method but CONNECT.' })),
    path: Type.Optional(Type.String({ pattern: '^/[!-~]*$', maxLength: 2047, description: 'The path with its query.' })),
    headers: Type.Optional(
      Type.Array(HeaderField, {
        maxItems: 100,
        description: 'All headers of the new request. Masked values, and headers that frame the body, are left out.',
      }),
    ),
    body: Type.Optional(Type.String({ description: 'Base64.' })),
  }),
  bodyOptional: true,
  status: 201,
  reply: TunnelRequest,
  errors: ['conflict'],
})
