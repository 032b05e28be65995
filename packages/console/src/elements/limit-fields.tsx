// Fields for the limits of sending, which an identity, a key and an organization have.
import type { Organization } from '@callsign/sdk'
import { TextField } from './fields.tsx'

export type Limits = Organization['sending_limits']

const labels: Record<keyof Limits, string> = {
  recipients_per_message: 'Recipients per message',
  messages_per_minute: 'Messages per minute',
  messages_per_hour: 'Messages per hour',
  messages_per_day: 'Messages per day',
  new_recipients_per_day: 'New recipients per day',
}
const names = Object.keys(labels) as (keyof Limits)[]

type LimitFieldsProps = {
  /** The path of the limits in the request. */
  path: string
  limits: Limits
  onChange: (limits: Limits) => void
}

/** An empty field means the default of the server. */
export function LimitFields({ path, limits, onChange }: LimitFieldsProps) {
  return (
    <div class="limits">
      {names.map((name) => (
        <TextField
          key={name}
          label={labels[name]}
          path={`${path}/${name}`}
          type="number"
          placeholder="no limit"
          value={limits[name] === null ? '' : String(limits[name])}
          onInput={(value) => onChange({ ...limits, [name]: value.trim() === '' ? null : Number(value) })}
        />
      ))}
    </div>
  )
}

/** The limits that are set, in words. */
export const limitTexts = (limits: Limits): string[] =>
  names.flatMap((name) => (limits[name] === null ? [] : [`${limits[name]?.toLocaleString()} ${labels[name].toLowerCase()}`]))

/** The limits that a person changed. Unchanged ones may be defaults of the server, which stay defaults. */
export function changedLimits(before: Limits, after: Limits): { sending_limits?: Partial<Limits> } {
  const changed = Object.fromEntries(names.filter((name) => before[name] !== after[name]).map((name) => [name, after[name]]))
  return Object.keys(changed).length > 0 ? { sending_limits: changed } : {}
}
