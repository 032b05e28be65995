// The reference of threads and of batches of messages.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const message = sampleId('message')
const thread = sampleId('thread')

export const threadDetails: Record<string, OperationDetails> = {
  sendBatch: {
    description:
      'Queues up to 100 messages in one transaction. With `mode` `strict`, the default, one message that cannot be sent refuses the whole batch, and `details` of the error name it as `/messages/{index}`. With `permissive`, the others are queued, and each entry of `data` has a status or an error. A batch over a sending limit is refused whole in both modes. Answers count in their order: those above 20 to one correspondent elsewhere are refused, and the others are queued. A server that stops in the middle has queued all of them or none. Send an `Idempotency-Key`, so that a retry does not send twice.',
    body: {
      messages: [
        { agent: 'sales', to: ['ada@example.com'], subject: 'Your order 1042', text: 'It ships today.' },
        { agent: 'sales', to: ['max@example.com'], subject: 'Your order 1043', text: 'It ships tomorrow.' },
      ],
      mode: 'permissive',
    },
    reply: { queued: 1, refused: 0 },
    sdk: 'const { data } = await callsign.mail.sendBatch($body)',
    cli: 'callsign mail send-batch orders.json --permissive',
  },
  getMessages: {
    description:
      'Returns up to 500 messages of every mailbox that the key can access, in the order of `ids`. `missing` are ids without a message for this key, and `404` means that all are. `left` are the messages that did not fit into 32 MB of text: request them again.',
    body: { ids: [message] },
    sdk: 'const { data } = await callsign.mail.getMessages($body)',
    cli: `callsign mail get --id ${message}`,
  },
  updateMessages: {
    description:
      'Changes up to 500 messages of every mailbox that the key can access, in one transaction. The fields are those of one message, and `is_trashed` moves messages to the trash or back. Messages in quarantine stay there. `missing` are ids without a message for this key, and `404` means that all are.',
    body: { ids: [message], is_read: true, add_labels: ['order'] },
    reply: { missing: [] },
    sdk: 'await callsign.mail.updateMessages($body)',
    cli: `callsign mail update --id ${message} --read --add order`,
  },
  listThreads: {
    description: 'Returns the threads of one mailbox, the one with the latest message first. The filters are those of `GET /threads`.',
    query: { folder: 'inbox', is_unread: true, limit: 20 },
    sdk: 'const page = await callsign.threads.list($email_address, $query)',
    cli: 'callsign threads list sales --folder inbox --unread --limit 20',
  },
  getThread: {
    description:
      'Returns one thread with its messages, oldest first. If it has more than 100 messages, the latest 100 are returned. List messages with `thread_id` to get all of them.',
    sdk: 'const thread = await callsign.threads.get($email_address, $thread_id)',
    cli: `callsign threads show ${thread}`,
  },
  listAllThreads: {
    description:
      'Returns the threads of every mailbox that the key can access, the one with the latest message first. Every thread is in one folder: `inbox`, `archive`, `spam`, `sent` if only the agent has written in it, or `trash`. Without `folder`, spam and trash are left out. `folder=sent` lists every thread with a sent message, and `folder=scheduled` every thread with a scheduled draft. `q` searches the messages. A request reads a limited number of threads for `participant`, `subject` and `q`: a page may then have fewer threads than `limit`, even none, while `has_more` is true.',
    query: { folder: 'inbox', participant: 'ada@example.com', limit: 20 },
    sdk: 'const page = await callsign.threads.listAll($query)',
    cli: 'callsign threads list --all --folder inbox --participant ada@example.com --limit 20',
  },
  getThreadById: {
    description:
      'Returns one thread of any mailbox that the key can access, with its messages, oldest first. A thread in the trash has its trashed messages.',
    sdk: 'const thread = await callsign.threads.getById($thread_id)',
    cli: `callsign threads show ${thread}`,
  },
  updateThread: {
    description:
      'Moves a thread to `inbox`, `archive`, `spam` or `trash`, marks its messages as read or unread, and changes its labels and metadata. `metadata` sets the keys that you give and deletes those with `null`. The labels of a thread are its own, beside the labels of its messages. An answer that arrives takes a thread from the archive to the inbox.',
    body: { folder: 'archive', is_read: true, add_labels: ['order'] },
    reply: { folder: 'archive', labels: ['order'] },
    sdk: 'const thread = await callsign.threads.update($thread_id, $body)',
    cli: `callsign threads update ${thread} --folder archive --read --add order`,
  },
  deleteThread: {
    description:
      'Moves a thread to the trash. After 30 days its messages are deleted with their attachments. `permanent=true` deletes them at once, which cannot be undone. Messages in quarantine stay.',
    reply: { permanent: false },
    sdk: 'await callsign.threads.delete($thread_id)',
    cli: `callsign threads delete ${thread}`,
  },
  restoreThread: {
    description:
      'Takes every message of a thread out of the trash. The thread returns to the folder where it was. A thread without messages in the trash does not change.',
    reply: { folder: 'inbox' },
    sdk: 'const thread = await callsign.threads.restore($thread_id)',
    cli: `callsign threads restore ${thread}`,
  },
}
