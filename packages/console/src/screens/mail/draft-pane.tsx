// A draft outside of a thread. A draft that answers a thread is shown in it.
import { ApiError, type Identity } from '@callsign/sdk'
import { useQuery } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { client } from '../../session/client.ts'
import { DraftCard } from './draft-card.tsx'
import { ThreadPane } from './thread-pane.tsx'

type DraftPaneProps = { handle: string; id: string; identities: Identity[]; onClose: () => void }

export function DraftPane({ handle, id, identities, onClose }: DraftPaneProps) {
  const query = useQuery(`draft ${id}`, () => client.drafts.get(handle, id))
  const draft = query.data.value
  const error = query.error.value
  if (error instanceof ApiError && error.status === 404) {
    return <Empty icon="edit" title="This draft was sent or discarded" action={<Button onClick={onClose}>Back to the list</Button>} />
  }
  if (!draft) return error ? <Failure error={error} onRetry={() => void query.reload()} /> : <Loading lines={8} />
  if (draft.thread_id)
    return <ThreadPane handle={handle} openId={id} threadId={draft.thread_id} identities={identities} onClose={onClose} />
  return (
    <div class="thread">
      <header class="thread-header">
        <span class="only-small">
          <Button kind="quiet" icon="back" label="Back to the list" onClick={onClose} />
        </span>
        <div class="grow">
          <h2 class="thread-subject">{draft.subject || 'No subject'}</h2>
          <span class="faint">Draft in {handle}</span>
        </div>
      </header>
      <div class="thread-messages">
        <DraftCard handle={handle} draft={draft} />
      </div>
    </div>
  )
}
