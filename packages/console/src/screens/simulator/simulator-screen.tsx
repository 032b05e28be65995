// Mail, texts and iMessages from simulated senders, faults of simulated providers, and the messages sent to simulated phones.
import { Screen } from '../../elements/screen.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { Faults } from './faults.tsx'
import { MailForm } from './mail-form.tsx'
import { Outbox } from './outbox.tsx'
import { ImessageForm, SmsForm } from './phone-forms.tsx'
import { Samples } from './samples.tsx'

const tabs = [
  { id: 'mail', label: 'Mail' },
  { id: 'hostile', label: 'Hostile mail' },
  { id: 'text', label: 'Text' },
  { id: 'imessage', label: 'iMessage' },
  { id: 'faults', label: 'Faults' },
  { id: 'outbox', label: 'Outbox' },
] as const

export default function SimulatorScreen() {
  const tab = tabs.find(({ id }) => id === place.value.query.get('tab'))?.id ?? 'mail'
  return (
    <Screen title="Simulator">
      <div class="narrow">
        <Tabs tabs={tabs} selected={tab} name="Simulator" onSelect={(id) => setQuery({ tab: id === 'mail' ? undefined : id })}>
          {tab === 'mail' && <MailForm />}
          {tab === 'hostile' && <Samples />}
          {tab === 'text' && <SmsForm />}
          {tab === 'imessage' && <ImessageForm />}
          {tab === 'faults' && <Faults />}
          {tab === 'outbox' && <Outbox />}
        </Tabs>
      </div>
    </Screen>
  )
}
