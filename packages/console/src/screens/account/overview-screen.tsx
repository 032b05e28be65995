// The first screen. It shows waiting items, traffic of the last 24 hours, live events and problems of the server.
import type { CallsignEvent } from '@callsign/sdk'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { loadRecentEvents, recentEvents } from '../../cache/live.ts'
import { useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Icon, type IconName } from '../../elements/icon.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf } from '../../navigation/place.ts'
import { screenNames } from '../../navigation/screen-names.ts'
import { PauseButton } from '../../pause.tsx'
import { type ChannelName, loadOverview, type Overview } from '../../waiting.ts'
import { eventLink } from '../events/event-link.ts'
import { areStepsShown, FirstSteps } from './first-steps.tsx'

export default function OverviewScreen() {
  const query = useQuery('overview', loadOverview)
  const overview = query.data.value
  if (!overview) {
    const error = query.error.value
    return <Screen title="Overview">{error ? <Failure error={error} onRetry={() => void query.reload()} /> : <Loading />}</Screen>
  }
  const steps = areStepsShown(overview.first_steps) ? overview.first_steps : null
  return (
    <Screen title="Overview" note="last 24 hours" actions={<PauseButton />}>
      <div class="overview">
        {steps && <FirstSteps steps={steps} />}
        {(!steps || Object.values(overview.waiting).some((count) => count > 0)) && <WaitingItems waiting={overview.waiting} />}
        {(!steps || overview.channels.some(hasTraffic)) && <Channels channels={overview.channels} />}
        <div class="overview-columns">
          <Ticker />
          <Findings findings={overview.findings} />
        </div>
      </div>
    </Screen>
  )
}

const hasTraffic = (channel: Overview['channels'][number]): boolean => channel.in + channel.out + channel.failed > 0

type WaitingName = keyof Overview['waiting']
const waitingItems: { name: WaitingName; one: string; many: string; icon: IconName; path: string }[] = [
  { name: 'drafts', one: 'draft to approve', many: 'drafts to approve', icon: 'approvals', path: '/approvals' },
  { name: 'quarantine', one: 'message in quarantine', many: 'messages in quarantine', icon: 'quarantine', path: '/quarantine' },
  { name: 'webhooks_failing', one: 'failing webhook', many: 'failing webhooks', icon: 'webhooks', path: '/webhooks' },
  { name: 'domains_unverified', one: 'unverified domain', many: 'unverified domains', icon: 'domains', path: '/domains' },
  { name: 'keys_expiring', one: 'key expires soon', many: 'keys expire soon', icon: 'keys', path: '/keys' },
]

function WaitingItems({ waiting }: { waiting: Overview['waiting'] }) {
  const items = waitingItems.filter((item) => waiting[item.name] > 0 && hasScreen(item.path))
  return (
    <section aria-labelledby="waiting-title">
      <h2 id="waiting-title">Waiting for you</h2>
      {items.length === 0 ? (
        <p class="all-clear">
          <Icon name="check" /> Nothing waits for a person.
        </p>
      ) : (
        <ul class="waiting">
          {items.map((item) => (
            <li key={item.name}>
              <a class="waiting-item" href={addressOf(item.path)}>
                <Icon name={item.icon} />
                <strong>{waiting[item.name]}</strong>
                <span>{waiting[item.name] === 1 ? item.one : item.many}</span>
                <Icon name="next" />
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const channelTexts: Record<ChannelName, { title: string; icon: IconName; path: string; in: string | null; out: string | null }> = {
  mail: { title: 'Mail', icon: 'mail', path: '/inbox', in: 'received', out: 'sent' },
  phone: { title: 'Phone', icon: 'phone', path: '/phone', in: 'received', out: null },
  imessage: { title: 'iMessage', icon: 'imessage', path: '/imessage', in: 'received', out: 'sent' },
  tunnels: { title: 'Tunnels', icon: 'tunnels', path: '/tunnels', in: 'requests', out: null },
  webhooks: { title: 'Webhooks', icon: 'webhooks', path: '/webhooks', in: null, out: 'delivered' },
  vault: { title: 'Vault', icon: 'vault', path: '/vault', in: 'unlocks', out: null },
}

/** Only screens that exist are linked. */
const hasScreen = (path: string): boolean => screenNames.value.includes(path.slice(1))

function Channels({ channels }: { channels: Overview['channels'] }) {
  return (
    <section aria-labelledby="channels-title">
      <h2 id="channels-title">Channels</h2>
      <ul class="channels">
        {channels.map((channel) => {
          const text = channelTexts[channel.channel]
          return (
            <li key={channel.channel}>
              <ChannelFrame path={text.path}>
                <span class="row">
                  <Icon name={text.icon} />
                  <strong class="grow">{text.title}</strong>
                  {channel.failed > 0 && <Badge tone="bad">{channel.failed} failed</Badge>}
                  {Boolean(channel.no_client) && <Badge tone="warn">{channel.no_client} without a client</Badge>}
                </span>
                <span class="channel-numbers">
                  {text.in && (
                    <span>
                      <b>{channel.in.toLocaleString()}</b> {text.in}
                    </span>
                  )}
                  {text.out && (
                    <span>
                      <b>{channel.out.toLocaleString()}</b> {text.out}
                    </span>
                  )}
                </span>
              </ChannelFrame>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const ChannelFrame = ({ path, children }: { path: string; children: ComponentChildren }) =>
  hasScreen(path) ? (
    <a class="channel" href={addressOf(path)}>
      {children}
    </a>
  ) : (
    <div class="channel">{children}</div>
  )

const tickerMax = 12

/** The subject of an event in a few words. */
function eventText(event: CallsignEvent): string {
  const { subject, from, agent_handle, address, domain, phone_number } = event.data as Record<string, unknown>
  return [subject, address, domain, phone_number, from, agent_handle].find((value) => typeof value === 'string' && value !== '') as string
}

function EventSubject({ event }: { event: CallsignEvent }) {
  const link = eventLink(event)
  const subject = eventText(event) ?? event.id
  // An agent or a reviewer may have no right to the screen.
  if (link === null || !hasScreen(`/${link.split('/')[2]}`)) return <span class="grow truncate">{subject}</span>
  return (
    <a class="grow truncate" href={link}>
      {subject}
    </a>
  )
}

function Ticker() {
  const events = recentEvents.value.slice(0, tickerMax)
  useEffect(() => {
    // The stream fills the list as well, so a failure here needs no message.
    loadRecentEvents().catch(() => {})
  }, [])
  const samples = samplesOf({
    method: 'GET',
    path: '/events/stream',
    sdk: 'for await (const event of callsign.events.follow()) console.log(event.type)',
    cli: `callsign listen --forward-to http${'://'}localhost:3000/hook`,
  })
  return (
    <section class="card" aria-label="Live events">
      <header>
        <h2 class="grow">Live</h2>
        <span class="live-dot" />
      </header>
      {events.length === 0 ? (
        <Empty icon="events" title="Waiting for the next event" samples={samples}>
          Each event appears here as it happens. Follow the same stream from your own code.
        </Empty>
      ) : (
        <ol class="ticker" aria-live="off">
          {events.map((event) => (
            <li key={event.id} class="row">
              <Badge tone={/failed|bounced|complained|quarantined/.test(event.type) ? 'warn' : 'accent'}>{event.type}</Badge>
              <EventSubject event={event} />
              <span class="faint">
                <Time at={event.timestamp} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

const findingTones = { error: 'bad', warning: 'warn', info: 'neutral' } as const

function Findings({ findings }: { findings: Overview['findings'] }) {
  return (
    <section class="card" aria-label="Health">
      <header>
        <h2 class="grow">Health</h2>
        <span class="faint mono">callsignd doctor</span>
      </header>
      <div class="body stack">
        {findings.length === 0 && (
          <p class="all-clear">
            <Icon name="check" /> No problems found.
          </p>
        )}
        {findings.map((finding) => (
          <Notice key={`${finding.code} ${finding.message}`} tone={findingTones[finding.level]}>
            {finding.message} {finding.fix && <span class="muted">{finding.fix}</span>}
          </Notice>
        ))}
      </div>
    </section>
  )
}
