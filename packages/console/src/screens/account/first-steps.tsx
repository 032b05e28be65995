// The first steps of a new organization, each with its state. They leave the overview once they are done or hidden.
import type { Identity } from '@callsign/sdk'
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Card } from '../../elements/card.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Icon } from '../../elements/icon.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf } from '../../navigation/place.ts'
import { canOperate, role } from '../../session/session.ts'
import type { FirstStepStates } from '../../waiting.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { deliverMail } from '../simulator/deliver-mail.ts'
import { CreateIdentityDialog } from './create-identity.tsx'

const storageKey = 'callsign-first-steps'
const hidden = 'hidden'

function isStoredHidden(): boolean {
  try {
    return localStorage.getItem(storageKey) === hidden
  } catch {
    return false
  }
}

const isHidden = signal(isStoredHidden())

function hide(): void {
  isHidden.value = true
  try {
    localStorage.setItem(storageKey, hidden)
  } catch {
    // Storage may be blocked. The steps are then hidden until the page is closed.
  }
}

/** True while a step is left for this person, and the steps are not hidden. */
export const areStepsShown = (steps: FirstStepStates | null): steps is FirstStepStates =>
  steps !== null && canOperate.value && !isHidden.value && Object.values(steps).includes(false)

type Step = {
  isDone: boolean
  title: string
  text: ComponentChildren
  actions: ComponentChildren
  /** Shown in place of the actions once the step is done. */
  result?: ComponentChildren
}

/** The steps with what each leads to. `first` is the agent that gets the message. */
function stepsOf(steps: FirstStepStates, first: Identity | undefined, onCreate: () => void): Step[] {
  return [
    {
      isDone: steps.agent,
      title: 'Create an agent',
      text: 'An identity gives an agent a mailbox and a public URL.',
      actions: (
        <Button icon="plus" onClick={onCreate}>
          New identity
        </Button>
      ),
    },
    {
      isDone: steps.arrived,
      title: 'Send it a message and see it arrive',
      text: first ? (
        <>
          Its address is <Copy value={first.mailbox_address} name="address" />. A test message takes the same path as real mail.
        </>
      ) : (
        'Its address is shown here once it exists.'
      ),
      actions: first && <TestMessage handle={first.agent_handle} />,
      result: (
        <ButtonLink icon="inbox" href={addressOf('/inbox')}>
          Open the inbox
        </ButtonLink>
      ),
    },
    {
      isDone: steps.client,
      title: 'Connect a client',
      text: 'An MCP client, the SDK or the command line acts as the agent, with a key or as a connected app.',
      actions: <ClientLinks />,
    },
    ...(steps.sign_in === null
      ? []
      : [
          {
            isDone: steps.sign_in,
            title: 'Set a passkey or password',
            text: 'The one-time link has signed you in once. Your next sign-in needs one of them.',
            actions: (
              <ButtonLink icon="keys" href={addressOf('/settings', { tab: 'profile' })}>
                Set it
              </ButtonLink>
            ),
          },
        ]),
  ]
}

export function FirstSteps({ steps }: { steps: FirstStepStates }) {
  const [isCreating, setCreating] = useState(false)
  const [first] = useIdentities().data.value ?? []
  const all = stepsOf(steps, first, () => setCreating(true))
  const done = all.filter((step) => step.isDone).length
  const actions = (
    <>
      <span class="faint">
        {done} of {all.length} done
      </span>
      <Button size="small" kind="quiet" onClick={hide}>
        Hide
      </Button>
    </>
  )
  return (
    <Card title="First steps" actions={actions}>
      <ol class="first-steps">
        {all.map((step, index) => (
          <StepRow key={step.title} step={step} number={index + 1} />
        ))}
      </ol>
      <p class="faint">
        The <a href="/docs/quick-start">quick start</a> has the same steps for the command line.
      </p>
      {isCreating && <CreateIdentityDialog onClose={() => setCreating(false)} />}
    </Card>
  )
}

function StepRow({ step: { isDone, title, text, actions, result }, number }: { step: Step; number: number }) {
  const shown = isDone ? result : actions
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="step-mark">
        {isDone ? <Icon name="check" /> : <span aria-hidden="true">{number}</span>}
        <span class="visually-hidden">{isDone ? 'Done' : 'Not done yet'}</span>
      </span>
      <div class="grow">
        <h3>{title}</h3>
        {!isDone && <p class="muted">{text}</p>}
      </div>
      {shown && <div class="row wrap">{shown}</div>}
    </li>
  )
}

function ClientLinks() {
  return (
    <>
      <ButtonLink icon="link" href={addressOf('/settings', { tab: 'mcp' })}>
        MCP and SDK
      </ButtonLink>
      {role.value === 'owner' && (
        <ButtonLink icon="keys" href={addressOf('/keys')}>
          Make a key
        </ButtonLink>
      )}
    </>
  )
}

function TestMessage({ handle }: { handle: string }) {
  const [isBusy, setBusy] = useState(false)
  const deliver = async () => {
    setBusy(true)
    const body = {
      to: handle,
      from: 'Ada Park <ada@people.example>',
      subject: 'A question',
      text: 'Do you ship to Norway? Your confirmation code is 492816.',
    }
    await attempt(() => deliverMail(body))
    setBusy(false)
    invalidate('overview')
  }
  return (
    <Button icon="sent" disabled={isBusy} onClick={() => void deliver()}>
      Deliver a test message
    </Button>
  )
}
