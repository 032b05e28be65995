// requests list|show.
import type { ApiRequest } from '@callsign/sdk'
import { type Command, listOptions, listQuery, oneOf, text } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

const columns = ['WHEN', 'ID', 'METHOD', 'PATH', 'STATUS', 'ERROR', 'MS', 'KEY']
const cellsOf = (one: ApiRequest): string[] => [
  ago(one.created_at),
  one.id,
  one.method,
  one.path,
  String(one.status),
  one.error_code ?? '-',
  String(one.duration_ms),
  one.key.name,
]

export const requestCommands: Command[] = [
  {
    words: 'requests list',
    about: 'Lists the API requests of the organization, newest first. It needs an organization key.',
    example: 'callsign requests list --status 4xx --key key_01jq8',
    operations: ['listRequests'],
    options: {
      method: { type: 'string', value: 'METHOD', choices: methods, about: 'Only requests with this method.' },
      status: { type: 'string', value: 'CLASS', choices: statusClasses, about: 'Only responses with this class of status.' },
      key: { type: 'string', value: 'ID', about: 'Only requests with this key.' },
      path: { type: 'string', value: 'PATH', about: 'Only paths with this beginning, such as /api/v1/mailboxes.' },
      after: { type: 'string', value: 'TIME', about: 'Only requests after this time in ISO 8601.' },
      before: { type: 'string', value: 'TIME', about: 'Only requests before this time in ISO 8601.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const method = oneOf(values, 'method', methods)
      const statusClass = oneOf(values, 'status', statusClasses)
      const key = text(values, 'key')
      const path = text(values, 'path')
      const after = text(values, 'after')
      const before = text(values, 'before')
      const page = await (await client()).requests.list({
        ...(method !== undefined && { method }),
        ...(statusClass !== undefined && { status_class: statusClass }),
        ...(key !== undefined && { key_id: key }),
        ...(path !== undefined && { path }),
        ...(after !== undefined && { after }),
        ...(before !== undefined && { before }),
        ...listQuery(values),
      })
      output.result(page, (width) => table(columns, page.data.map(cellsOf), width))
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'requests show',
    takes: 'ID',
    about: 'Shows one API request by its request id.',
    example: 'callsign requests show req_01jq8',
    operations: ['getRequest'],
    async run({ client, output }, _values, [id = '']) {
      const request = await (await client()).requests.get(id)
      output.result(request, () => `${table(columns, [cellsOf(request)])}\nFields: ${request.fields.join(', ') || 'none'}`)
      return 0
    },
  },
]
