// The limits for sending of the organization and of each key, and the pause of all sending.
import type { Organization } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Form } from '../../elements/form.tsx'
import { changedLimits, LimitFields } from '../../elements/limit-fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { PauseButton, useOrganization } from '../../pause.tsx'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'

export function Sending() {
  const organization = useOrganization()
  return (
    <div class="stack">
      <div class="row">
        <PauseButton />
      </div>
      <Loaded query={organization}>
        {(data) => (
          <div class="overview-columns">
            <LimitForm key={`all ${data.id}`} title="All mail together" field="sending_limits" organization={data} />
            <LimitForm key={`keys ${data.id}`} title="Each key" field="key_sending_limits" organization={data} />
          </div>
        )}
      </Loaded>
      <p class="faint">Limits of one agent are at its identity.</p>
    </div>
  )
}

type LimitFormProps = { title: string; field: 'sending_limits' | 'key_sending_limits'; organization: Organization }

function LimitForm({ title, field, organization }: LimitFormProps) {
  const [limits, setLimits] = useState(organization[field])
  const save = async () => {
    const { sending_limits: changed } = changedLimits(organization[field], limits)
    if (!changed) return
    await client.organization.update({ [field]: changed })
    invalidate('organization')
  }
  return (
    <Form class="card" done="Saved" onSubmit={save}>
      <header>
        <h2>{title}</h2>
      </header>
      <div class="body stack">
        <LimitFields path={`/${field}`} limits={limits} onChange={setLimits} />
        {canOperate.value && (
          <Button kind="primary" type="submit">
            Save
          </Button>
        )}
      </div>
    </Form>
  )
}
