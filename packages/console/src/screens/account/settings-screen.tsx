// Settings: the person, their sessions, the members and limits of the organization, the server, and how to connect other programs.
import { Screen } from '../../elements/screen.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { canReview, role, session } from '../../session/session.ts'
import { CompatibilityGuide } from './compatibility-guide.tsx'
import { McpGuide } from './mcp-guide.tsx'
import { Members } from './members.tsx'
import { Profile } from './profile.tsx'
import { Sending } from './sending.tsx'
import { ServerSettings } from './server-settings.tsx'
import { Sessions } from './sessions.tsx'

const allTabs = [
  { id: 'profile', label: 'You' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'members', label: 'Members' },
  { id: 'sending', label: 'Sending' },
  { id: 'mcp', label: 'MCP' },
  { id: 'compatibility', label: 'Compatibility' },
  { id: 'server', label: 'Server' },
] as const
type TabName = (typeof allTabs)[number]['id']

/** The tabs that the session may open. */
const isVisible: Record<TabName, () => boolean> = {
  profile: () => session.value?.member !== null,
  sessions: () => true,
  members: () => role.value === 'owner',
  sending: () => canReview.value,
  mcp: () => true,
  compatibility: () => true,
  server: () => role.value === 'owner',
}

export default function SettingsScreen() {
  const tabs = allTabs.filter(({ id }) => isVisible[id]())
  const wanted = place.value.query.get('tab')
  const tab: TabName = tabs.find(({ id }) => id === wanted)?.id ?? (tabs[0]?.id as TabName)
  return (
    <Screen title="Settings">
      <Tabs tabs={tabs} selected={tab} name="Settings" onSelect={(id) => setQuery({ tab: id })} />
      {tab === 'profile' && <Profile />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'members' && <Members />}
      {tab === 'sending' && <Sending />}
      {tab === 'mcp' && <McpGuide />}
      {tab === 'compatibility' && <CompatibilityGuide />}
      {tab === 'server' && <ServerSettings />}
    </Screen>
  )
}
