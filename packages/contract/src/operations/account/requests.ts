// The log of API requests, without the values that they carried.
import Type, { type Static } from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, described, id, Limit, nullableString, page, strict, Timestamp } from '../../schema.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const Method = Type.Unsafe<(typeof methods)[number]>({ type: 'string', enum: [...methods] })

/** Status codes by their first digit. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof statusClasses)[number]

export const ApiRequest = Type.Object(
  {
    id: Type.String({ description: 'The `X-Request-Id` of the response.' }),
    method: Method,
    path: Type.String({
      description: 'The path. Its parameters are shown if they are ids, and by name otherwise, such as `{email_address}`.',
    }),
    operation: Type.String({ description: 'The id of the operation in the reference, such as `sendMail`.' }),
    status: Type.Integer(),
    error_code: nullableString({ description: 'The `error.code` of the response.' }),
    duration_ms: Type.Integer({ minimum: 0, description: 'Milliseconds from the first byte of the request to the last of the response.' }),
    key: Type.Object({ id: Type.String(), name: Type.String() }),
    fields: Type.Array(Type.String(), {
      description: 'Names of the query parameters and of the fields of the body. Their values are not stored.',
    }),
    created_at: Timestamp,
  },
  { $id: 'ApiRequest' },
)
export type ApiRequest = Static<typeof ApiRequest>

export const listRequests = operation({
  id: 'listRequests',
  method: 'GET',
  path: '/api/v1/requests',
  summary: 'Lists the API requests of the keys of the organization, newest first.',
  tag: 'Requests',
  scopes: ['requests:read'],
  query: strict({
    method: Type.Optional(described(Method, 'Only requests with this method.')),
    status_class: Type.Optional(
      Type.Unsafe<StatusClass>({ type: 'string', enum: [...statusClasses], description: 'Only these status codes.' }),
    ),
    key_id: Type.Optional(described(id('key'), 'Only requests of this key.')),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The beginning of the path, with parameters as in the reference: `/api/v1/webhooks/{id}`.',
      }),
    ),
    after: Type.Optional(described(Timestamp, 'Only requests after this time.')),
    before: Type.Optional(described(Timestamp, 'Only requests before this time.')),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(ApiRequest),
})

export const getRequest = operation({
  id: 'getRequest',
  method: 'GET',
  path: '/api/v1/requests/{id}',
  summary: 'Returns one API request by its request id.',
  tag: 'Requests',
  scopes: ['requests:read'],
  params: strict({ id: id('request') }),
  status: 200,
  reply: ApiRequest,
  errors: ['not_found'],
})
