// Events as they happen, with pause and a filter. A pause keeps the list still, and resuming adds the events since then.
import type { CallsignEvent } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { loadRecentEvents, recentEvents } from '../../cache/live.ts'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { screenNames } from '../../navigation/screen-names.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { eventLink } from './event-link.ts'

const samples = samplesOf({
  method: 'GET',
  path: '/events/stream',
  sdk: 'for await (const event of callsign.events.follow()) console.log(event.type, event.data)',
  cli: 'callsign listen',
})

const matches = (event: CallsignEvent, filter: string): boolean =>
  `${event.type} ${event.data.agent_handle ?? ''}`.includes(filter.toLowerCase())

export default function EventsScreen() {
  const filter = place.value.query.get('filter') ?? ''
  const [held, setHeld] = useState<CallsignEvent[] | null>(null)
  const [open, setOpen] = useState<CallsignEvent | null>(null)
  const history = useQuery('history', loadRecentEvents)
  const toggle = () => setHeld(held ? null : recentEvents.peek())
  useShortcuts('Events', [{ keys: 'p', label: held ? 'Resume' : 'Pause', run: toggle }])
  const missed = held ? recentEvents.value.findIndex((event) => event.id === held[0]?.id) : 0
  const shown = (held ?? recentEvents.value).filter((event) => matches(event, filter))
  const actions = (
    <Button icon={held ? 'play' : 'pause'} shortcut="p" onClick={toggle}>
      {held ? `Resume${missed > 0 ? `, ${missed} new` : ''}` : 'Pause'}
    </Button>
  )
  return (
    <Screen title="Events" note={held ? 'paused' : 'live'} actions={actions}>
      <div class="stack">
        <TextField
          label="Filter"
          isLabelHidden
          type="search"
          placeholder="Type or agent"
          value={filter}
          onInput={(value) => setQuery({ filter: value || undefined })}
        />
        {shown.length === 0 ? (
          <Loaded query={history}>
            {() => (
              <Empty icon="events" title={filter ? 'No events found' : 'No events yet'} samples={samples}>
                Events appear here as they happen.
              </Empty>
            )}
          </Loaded>
        ) : (
          <EventTable events={shown} onOpen={setOpen} />
        )}
      </div>
      {open && (
        <Dialog title={open.type} isWide onClose={() => setOpen(null)}>
          <pre class="pre">{JSON.stringify(open, null, 2)}</pre>
        </Dialog>
      )}
    </Screen>
  )
}

function EventObject({ event }: { event: CallsignEvent }) {
  const link = eventLink(event)
  return (
    <span class="row wrap">
      {link && screenNames.value.includes(link.split('/')[2] ?? '') && <a href={link}>Open</a>}
      <span class="hide-small">{typeof event.data.id === 'string' && <Id id={event.data.id} />}</span>
    </span>
  )
}

function EventTable({ events, onOpen }: { events: CallsignEvent[]; onOpen: (event: CallsignEvent) => void }) {
  return (
    <Table
      name="Events"
      items={events}
      keyOf={(event) => event.id}
      columns={[
        { title: 'Time', cell: (event) => <Time at={event.timestamp} form="exact" /> },
        {
          title: 'Type',
          cell: (event) => <Badge tone={/failed|bounced|complained|quarantined/.test(event.type) ? 'bad' : 'neutral'}>{event.type}</Badge>,
        },
        { title: 'Agent', cell: (event) => String(event.data.agent_handle ?? '') },
        { title: 'Object', cell: (event) => <EventObject event={event} /> },
        {
          title: '',
          cell: (event) => (
            <Button size="small" onClick={() => onOpen(event)}>
              JSON
            </Button>
          ),
        },
      ]}
    />
  )
}
