// The log of API requests, with filters in the address. It has names of fields and no values.
import type { StatusClass } from '@callsign/contract/requests'
import type { ApiRequest } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { type LoadPage, usePages } from '../../cache/pages.ts'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'

const pageSize = 100
const methods: ApiRequest['method'][] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']
const statusClasses: StatusClass[] = ['2xx', '3xx', '4xx', '5xx']

const samples = samplesOf({
  method: 'GET',
  path: '/requests?status_class=4xx',
  sdk: "const { data } = await callsign.requests.list({ status_class: '4xx' })",
  cli: 'callsign requests list --status 4xx',
})

type Filter = { method: ApiRequest['method'] | ''; status: StatusClass | ''; path: string; key: string }

function readFilter(query: URLSearchParams): Filter {
  return {
    method: methods.find((one) => one === query.get('method')) ?? '',
    status: statusClasses.find((one) => one === query.get('status')) ?? '',
    path: query.get('path') ?? '',
    key: query.get('key') ?? '',
  }
}

const loaderOf =
  ({ method, status, path, key }: Filter): LoadPage<ApiRequest> =>
  async (cursor) => {
    const page = await client.requests.list({
      limit: pageSize,
      ...(method ? { method } : {}),
      ...(status ? { status_class: status } : {}),
      ...(path ? { path } : {}),
      ...(key ? { key_id: key } : {}),
      ...(typeof cursor === 'string' ? { cursor } : {}),
    })
    return { items: page.data, next: page.next_cursor }
  }

export default function RequestsScreen() {
  const filter = readFilter(place.value.query)
  const pages = usePages(`requests ${JSON.stringify(filter)}`, loaderOf(filter))
  const [open, setOpen] = useState<ApiRequest | null>(null)
  const refresh = () => void pages.refresh()
  useShortcuts('Request log', [{ keys: 'r', label: 'Load the newest requests', run: refresh }])
  const requests = pages.items.value
  const actions = (
    <Button icon="refresh" shortcut="r" disabled={pages.isLoading.value} onClick={refresh}>
      Newest
    </Button>
  )
  return (
    <Screen title="Request log" actions={actions}>
      <div class="stack">
        <FilterFields filter={filter} />
        {pages.error.value && <Failure error={pages.error.value} onRetry={refresh} />}
        {!pages.isLoaded.value && !pages.error.value && <Loading />}
        {pages.isLoaded.value && requests.length === 0 && (
          <Empty icon="log" title="No requests found" samples={samples}>
            Requests of API keys and connected apps appear here within a second. The values that they carry are not stored.
          </Empty>
        )}
        {requests.length > 0 && <RequestTable requests={requests} onOpen={setOpen} />}
        {pages.isLoaded.value && pages.hasMore.value && (
          <Button disabled={pages.isLoading.value} onClick={() => void pages.loadMore()}>
            Show older requests
          </Button>
        )}
      </div>
      {open && <RequestDialog request={open} onClose={() => setOpen(null)} />}
    </Screen>
  )
}

const anyOf = <T extends string>(label: string, values: T[]) => [
  { value: '' as const, label },
  ...values.map((value) => ({ value, label: value })),
]

function FilterFields({ filter }: { filter: Filter }) {
  return (
    <div class="row wrap">
      <Select
        label="Method"
        isLabelHidden
        value={filter.method}
        options={anyOf('All methods', methods)}
        onChange={(method) => setQuery({ method })}
      />
      <Select
        label="Status"
        isLabelHidden
        value={filter.status}
        options={anyOf('All statuses', statusClasses)}
        onChange={(status) => setQuery({ status })}
      />
      <TextField
        label="Path"
        isLabelHidden
        type="search"
        placeholder="/api/v1/webhooks"
        value={filter.path}
        onInput={(path) => setQuery({ path: path.trim() })}
        isMono
      />
      {filter.key && (
        <Button icon="close" onClick={() => setQuery({ key: undefined })}>
          One key only
        </Button>
      )}
    </div>
  )
}

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

function RequestTable({ requests, onOpen }: { requests: ApiRequest[]; onOpen: (request: ApiRequest) => void }) {
  return (
    <Table
      name="Requests"
      items={requests}
      keyOf={(request) => request.id}
      columns={[
        { title: 'Time', cell: (request) => <Time at={request.created_at} form="exact" /> },
        { title: 'Status', cell: (request) => <Badge tone={toneOf(request.status)}>{request.status}</Badge> },
        {
          title: 'Request',
          cell: (request) => (
            <span class="mono anywhere">
              {request.method} {request.path}
            </span>
          ),
        },
        { title: 'Error', cell: (request) => request.error_code && <span class="mono">{request.error_code}</span> },
        { title: 'Duration', cell: (request) => `${request.duration_ms} ms`, isNumber: true, isMinor: true },
        {
          title: 'Key',
          cell: (request) => (
            <Button size="small" kind="quiet" onClick={() => setQuery({ key: request.key.id })}>
              {request.key.name}
            </Button>
          ),
          isMinor: true,
        },
        {
          title: '',
          cell: (request) => (
            <Button size="small" onClick={() => onOpen(request)}>
              Details
            </Button>
          ),
        },
      ]}
    />
  )
}

function RequestDialog({ request, onClose }: { request: ApiRequest; onClose: () => void }) {
  return (
    <Dialog title={`${request.method} ${request.path}`} isWide onClose={onClose}>
      <Facts
        items={[
          ['Request id', <Id key="id" id={request.id} name="request id" />],
          ['Time', <Time key="time" at={request.created_at} form="exact" />],
          ['Operation', request.operation],
          ['Status', request.error_code ? `${request.status}, ${request.error_code}` : request.status],
          ['Duration', `${request.duration_ms} ms`],
          ['Key', `${request.key.name} (${request.key.id})`],
          ['Fields', request.fields.join(', ') || 'none'],
        ]}
      />
    </Dialog>
  )
}
