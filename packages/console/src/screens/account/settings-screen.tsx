// Settings: the person, their sessions, the members of the organization, and how to connect an MCP client.
import { Screen } from '../../elements/screen.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { role, session } from '../../session/session.ts'
import { McpGuide } from './mcp-guide.tsx'
import { Members } from './members.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'

const allTabs = [
  { id: 'profile', label: 'You' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'members', label: 'Members' },
  { id: 'mcp', label: 'MCP' },
] as const
type TabName = (typeof allTabs)[number]['id']

export default function SettingsScreen() {
  const isMember = session.value?.member !== null
  const tabs = allTabs.filter(({ id }) => (id === 'members' ? role.value === 'owner' : id === 'profile' ? isMember : true))
  const wanted = place.value.query.get('tab')
  const tab: TabName = tabs.find(({ id }) => id === wanted)?.id ?? (tabs[0]?.id as TabName)
  return (
    <Screen title="Settings">
      <Tabs tabs={tabs} selected={tab} name="Settings" onSelect={(id) => setQuery({ tab: id })} />
      {tab === 'profile' && <Profile />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'members' && <Members />}
      {tab === 'mcp' && <McpGuide />}
    </Screen>
  )
}
