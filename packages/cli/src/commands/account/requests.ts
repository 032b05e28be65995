// requests list|show.
import type { ApiRequest } from '@callsign/sdk'
import type { Command } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

const columns: Record<string, (request: ApiRequest) => string> = {
  WHEN: (one) => ago(one.created_at),
  ID: (one) => one.id,
  METHOD: (one) => one.method,
  PATH: (one) => one.path,
  STATUS: (one) => String(one.status),
  ERROR: (one) => one.error_code ?? '-',
  MS: (one) => String(one.duration_ms),
  KEY: (one) => one.key.name,
}

export const requestCommands: Command[] = [
  listCommand({
    words: 'requests list',
    about: 'Lists the API requests of the organization, newest first. It needs an organization key.',
    example: 'callsign requests list --status 4xx --key key_01jq8',
    operations: ['listRequests'],
    options: {
      method: { type: 'string', value: 'METHOD', field: 'method', choices: methods, about: 'Only requests with this method.' },
      status: {
        type: 'string',
        value: 'CLASS',
        field: 'status_class',
        choices: statusClasses,
        about: 'Only responses with this class of status.',
      },
      key: { type: 'string', value: 'ID', field: 'key_id', about: 'Only requests with this key.' },
      path: { type: 'string', value: 'PATH', field: 'path', about: 'Only paths with this beginning, such as /api/v1/mailboxes.' },
      after: { type: 'string', value: 'TIME', field: 'after', about: 'Only requests after this time in ISO 8601.' },
      before: { type: 'string', value: 'TIME', field: 'before', about: 'Only requests before this time in ISO 8601.' },
      ...listOptions,
    },
    call: (client, query) => client.requests.list(query),
    columns,
  }),
  {
    words: 'requests show',
    takes: 'ID',
    about: 'Shows one API request by its request id.',
    example: 'callsign requests show req_01jq8',
    operations: ['getRequest'],
    async run({ client, output }, _values, [id = '']) {
      const request = await (await client()).requests.get(id)
      output.result(
        request,
        () =>
          `${table(Object.keys(columns), [Object.values(columns).map((cell) => cell(request))])}\nFields: ${request.fields.join(', ') || 'none'}`,
      )
      return 0
    },
  },
]
