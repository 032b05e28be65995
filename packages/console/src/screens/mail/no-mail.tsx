// A folder or a search without a message, with the next step.
import type { Identity } from '@callsign/sdk'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import type { IconName } from '../../elements/icon.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { addressOf } from '../../navigation/place.ts'
import { canOperate, canWrite } from '../../session/session.ts'
import { openComposer } from './composer-state.ts'
import type { Folder, MailFilter } from './filter.ts'

const titles: Partial<Record<Folder, { title: string; icon: IconName; text: string }>> = {
  unread: { title: 'Everything is read', icon: 'mail', text: 'New mail appears here and in the inbox.' },
  starred: { title: 'Nothing is starred', icon: 'star', text: 'Star a message to find it here.' },
  drafts: { title: 'No drafts', icon: 'edit', text: 'A message that you began to write, and that is not sent yet, is kept here.' },
  scheduled: { title: 'Nothing is scheduled', icon: 'clock', text: 'Threads with a draft that is sent at a set time are listed here.' },
  sent: { title: 'Nothing was sent yet', icon: 'sent', text: 'Mail that the agents and you send is listed here.' },
  archive: { title: 'The archive is empty', icon: 'archive', text: 'Archived threads leave the inbox and stay here.' },
  spam: { title: 'No spam', icon: 'block', text: 'Threads that were moved to spam are listed here.' },
  trash: { title: 'The trash is empty', icon: 'trash', text: 'Deleted messages stay here for 30 days.' },
}

export function NoMail({ filter, identities }: { filter: MailFilter; identities: Identity[] }) {
  if (filter.search || filter.label) {
    return (
      <Empty
        icon="search"
        title="Nothing found"
        action={<ButtonLink href={addressOf('/inbox', { mailbox: filter.mailbox })}>Back to the inbox</ButtonLink>}
      >
        No message matches this search. A search reaches every folder but the trash.
      </Empty>
    )
  }
  const folder = titles[filter.folder]
  if (folder) return <EmptyFolder folder={folder} filter={filter} />
  const handle = filter.mailbox || identities[0]?.agent_handle
  return handle ? <NoMailYet handle={handle} identities={identities} /> : <NoIdentity />
}

function EmptyFolder({ folder, filter }: { folder: { title: string; icon: IconName; text: string }; filter: MailFilter }) {
  const isWritten = filter.folder === 'drafts' || filter.folder === 'sent'
  const action =
    isWritten && canWrite.value ? (
      <Button icon="edit" onClick={() => openComposer({ kind: 'new', mailbox: filter.mailbox })}>
        Write a message
      </Button>
    ) : (
      <ButtonLink href={addressOf('/inbox', { mailbox: filter.mailbox })}>Back to the inbox</ButtonLink>
    )
  return (
    <Empty icon={folder.icon} title={folder.title} action={action}>
      {folder.text}
    </Empty>
  )
}

function NoIdentity() {
  const samples = samplesOf({
    method: 'POST',
    path: '/identities',
    body: { agent_handle: 'sales' },
    sdk: "await callsign.identities.create({ agent_handle: 'sales' })",
    cli: 'callsign identities create sales',
  })
  const action = canOperate.value && (
    <ButtonLink kind="primary" icon="plus" href={addressOf('/identities')}>
      Create an identity
    </ButtonLink>
  )
  return (
    <Empty icon="identities" title="Create the first identity" samples={samples} action={action}>
      An identity gives an agent a mailbox, a public address for its port, and optionally a phone number.
    </Empty>
  )
}

function NoMailYet({ handle, identities }: { handle: string; identities: Identity[] }) {
  const address = identities.find((identity) => identity.agent_handle === handle)?.mailbox_address ?? handle
  const samples = samplesOf({
    method: 'GET',
    path: `/mailboxes/${handle}/wait?timeout=60`,
    sdk: `const { message } = await callsign.mailboxes.wait('${handle}', { timeout: 60 })`,
    cli: `callsign mail wait ${handle} --timeout 60`,
  })
  const action = canOperate.value && (
    <ButtonLink kind="primary" icon="simulator" href={addressOf('/simulator')}>
      Deliver a test message
    </ButtonLink>
  )
  return (
    <Empty icon="inbox" title="No mail yet" samples={samples} action={action}>
      Send a message to {address}. It appears here at once. Until then, watch for it from your own code.
    </Empty>
  )
}
