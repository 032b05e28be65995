// The people of the organization with their roles. Owners only.
import { useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { OnceDialog } from '../../elements/once-dialog.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { consoleCall, type Member as MemberOfSession } from '../../session/console-api.ts'
import { memberName, session } from '../../session/session.ts'

const roles = [
  { value: 'owner', label: 'Owner: everything' },
  { value: 'operator', label: 'Operator: everything but keys and members' },
  { value: 'reviewer', label: 'Reviewer: reads, approves and releases' },
] as const
type MemberRole = (typeof roles)[number]['value']

type Member = MemberOfSession & { has_password: boolean; has_oidc: boolean; passkeys: number }

export function Members() {
  const members = useQuery('members', async () => (await consoleCall<{ members: Member[] }>('GET', 'members')).members)
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<string | null>(null)
  const [removed, setRemoved] = useState<Member | null>(null)
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) await members.reload()
  }
  const renew = (member: Member) =>
    attempt(async () => setLink((await consoleCall<{ invite_link: string }>('POST', `members/${member.id}/link`)).invite_link))
  return (
    <div class="stack">
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
          Invite
        </Button>
      </div>
      <Loaded query={members}>
        {(all) => <MemberTable members={all} change={change} onRenew={(member) => void renew(member)} onRemove={setRemoved} />}
      </Loaded>
      {isInviting && <InviteDialog onMade={setLink} onDone={() => void members.reload()} onClose={() => setInviting(false)} />}
      {link && <LinkDialog link={link} onClose={() => setLink(null)} />}
      {removed && <RemoveDialog member={removed} change={change} onClose={() => setRemoved(null)} />}
    </div>
  )
}

type Change = (work: () => Promise<unknown>, done: string) => Promise<void>
type MemberTableProps = { members: Member[]; change: Change; onRenew: (member: Member) => void; onRemove: (member: Member) => void }

function MemberTable({ members, change, onRenew, onRemove }: MemberTableProps) {
  return (
    <Table
      name="Members"
      items={members}
      keyOf={(member) => member.id}
      columns={[
        { title: 'Name', cell: (member) => <MemberName member={member} /> },
        { title: 'Email', cell: (member) => member.email },
        {
          title: 'Role',
          cell: (member) => (
            <Select
              label={`Role of ${member.email}`}
              isLabelHidden
              value={member.role as MemberRole}
              options={roles}
              onChange={(role) => void change(() => consoleCall('PATCH', `members/${member.id}`, { role }), 'The role is changed')}
            />
          ),
        },
        {
          title: 'Last sign-in',
          cell: (member) => (member.last_sign_in_at ? <Time at={member.last_sign_in_at} /> : 'never'),
          isMinor: true,
        },
        {
          title: '',
          cell: (member) =>
            member.id !== session.value?.member?.id && (
              <span class="row">
                {!hasOwnSignIn(member) && (
                  <Button size="small" icon="link" onClick={() => onRenew(member)}>
                    New link
                  </Button>
                )}
                <Button size="small" kind="danger" icon="trash" label={`Remove ${member.email}`} onClick={() => onRemove(member)} />
              </span>
            ),
        },
      ]}
    />
  )
}

/** The server refuses a link for a member with a sign-in of its own. */
const hasOwnSignIn = ({ has_password, has_oidc, passkeys }: Member): boolean => has_password || has_oidc || passkeys > 0

function MemberName({ member }: { member: Member }) {
  return (
    <span class="row wrap">
      {memberName(member)}
      {member.id === session.value?.member?.id && <Badge tone="accent">you</Badge>}
    </span>
  )
}

type RemoveProps = { member: Member; change: Change; onClose: () => void }

function RemoveDialog({ member, change, onClose }: RemoveProps) {
  return (
    <Confirm
      title={`Remove ${member.email}?`}
      text="The sessions of this person end at once."
      action="Remove"
      isDanger
      onConfirm={() => void change(() => consoleCall('DELETE', `members/${member.id}`), 'Removed')}
      onClose={onClose}
    />
  )
}

function InviteDialog({ onMade, onDone, onClose }: { onMade: (link: string) => void; onDone: () => void; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<MemberRole>('reviewer')
  const invite = async () => {
    const { invite_link: link } = await consoleCall<{ invite_link: string }>('POST', 'members', {
      email: email.trim(),
      name: name.trim(),
      role,
    })
    onMade(link)
    onDone()
  }
  return (
    <FormDialog
      title="Invite a person"
      conflictPath="/email"
      action="Make a link"
      isDisabled={email.trim() === ''}
      onSubmit={invite}
      onClose={onClose}
    >
      <TextField label="Email" path="/email" type="email" value={email} onInput={setEmail} required autoFocus />
      <TextField label="Name" path="/name" value={name} onInput={setName} />
      <Select label="Role" path="/role" value={role} options={roles} onChange={setRole} />
    </FormDialog>
  )
}

function LinkDialog({ link, onClose }: { link: string; onClose: () => void }) {
  return (
    <OnceDialog title="Link for the person" name="link" value={link} onClose={onClose}>
      <p>The link signs the person in once. Send it over a channel that you trust.</p>
    </OnceDialog>
  )
}
