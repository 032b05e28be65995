// Finds the place of a new message in the threads of its mailbox: by a thread, or by the Message-IDs that it answers.
import { invalid } from '../../../core/errors.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Messages } from '../messages/operations.ts'
import { parentOf, type ThreadPlace } from './model.ts'

/**
 * The place of a message. Without `thread_id` and `references` it starts a thread. `source` is the message that a draft answers or forwards. Throws
 * 400 for references together with one of them, and 404 for an unknown thread.
 */
export async function findPlace(
  messages: Pick<Messages, 'requireThread' | 'findReferenced' | 'findMessage'>,
  { mailboxId, organizationId }: MailboxOwner,
  {
    thread_id,
    source,
    references = [],
  }: { thread_id?: string | undefined; source?: string | undefined; references?: string[] | undefined },
): Promise<ThreadPlace> {
  if (references.length === 0) {
    const thread = thread_id === undefined ? null : await messages.requireThread(mailboxId, organizationId, thread_id)
    return { parent: thread?.latest ? parentOf(thread.latest) : null, threadId: thread?.threadId ?? null }
  }
  if (thread_id !== undefined) throw invalid('/references', 'references and thread_id cannot be combined')
  if (source !== undefined) throw invalid('/references', 'references cannot be combined with in_reply_to and forward_of')
  const known = await messages.findReferenced(mailboxId, references)
  const message = known?.messageId ? await messages.findMessage(known.messageId) : null
  const parent = message && parentOf(message)
  // A caller that names only the answered message gets the whole chain.
  return { parent, threadId: known?.threadId ?? null, references: references.length === 1 && parent ? parent.references : references }
}
