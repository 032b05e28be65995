// The reference of messages and drafts.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const message = sampleId('message')
const draft = sampleId('draft')

export const mailDetails: Record<string, OperationDetails> = {
  sendMail: {
    description:
      'Queues a message and returns at once with status `queued`. The delivery to each recipient is reported by the events `email.sent`, `email.delivered`, `email.bounced` and `email.failed`, and by `delivery` of the message. Send an `Idempotency-Key`, so that a retry does not send twice. A message has at most 25 MB with its attachments. Give `html` and `text`, or one of them. With `thread_id`, the message joins a thread of the mailbox. `403 approval_required` means that mail of this agent needs a draft, and `403 recipient_not_allowed` names the rule that forbids a recipient.',
    body: {
      agent: 'sales',
      to: ['ada@example.com'],
      subject: 'Your order 1042',
      text: 'It ships today.',
      html: '<p>It ships <b>today</b>.</p>',
    },
    sdk: 'const { id } = await callsign.mail.send($body)',
    cli: 'callsign mail send --agent sales --to ada@example.com --subject "Your order 1042" --text "It ships today."',
  },
  listMail: {
    description:
      'Returns messages of every mailbox that the key can access, sent and received, newest first. Filter by `agent`, `thread_id`, `direction`, `folder`, `tag` or `metadata`. Quarantined messages are not in this list. `total` counts the messages of `agent` and `thread_id`, whatever the other filters are.',
    query: { agent: 'sales', limit: 20 },
    sdk: 'const { messages } = await callsign.mail.list($query)',
    cli: 'callsign mail list --agent sales --limit 20',
  },
  sendMessage: {
    description:
      'Queues a message from the mailbox in the path. It is the same as `POST /mail/send`, with the mailbox in place of `agent`.',
    body: { to: ['ada@example.com'], subject: 'Your order 1042', text: 'It ships today.' },
    sdk: 'const { id } = await callsign.messages.send($email_address, $body)',
    cli: 'callsign mail send --agent sales --to ada@example.com --subject "Your order 1042" --text "It ships today."',
  },
  replyToMessage: {
    description:
      'Replies in the thread of a message. The reply goes to Reply-To or From of the message, and with `reply_all` also to its other recipients. Subject, In-Reply-To and References are set for you. Give `text` or `html`. Set `automatic` for replies that no person or model wrote, such as a notice of absence: they never answer automatic or bulk mail.',
    body: { text: 'We do, within a week.' },
    sdk: 'const { id } = await callsign.messages.reply($email_address, $message_id, $body)',
    cli: `callsign mail reply ${message} --mailbox sales --text "We do, within a week."`,
  },
  forwardMessage: {
    description:
      'Forwards a message below your text, with its attachments unless `forward_attachments` is false. The forwarded part names the sender, date, subject and recipients of the original message.',
    body: { to: ['support@agents.example.com'], text: 'Can you take this one?' },
    sdk: 'const { id } = await callsign.messages.forward($email_address, $message_id, $body)',
    cli: `callsign mail forward ${sampleId('message')} --to ada@example.com --text "For your files."`,
  },
  listMessages: {
    description:
      'Returns the messages of one mailbox, newest first. All filters that you give must match. Quarantined messages are listed only with `status=quarantined`. An agent key reads them only with the scope `quarantine:read`. Use `next_cursor` as the `cursor` of the next request to get the next page.',
    query: { is_read: false, direction: 'inbound', limit: 20 },
    sdk: 'const page = await callsign.messages.list($email_address, $query)',
    cli: 'callsign mail list --agent sales --unread --limit 20',
  },
  getMessage: {
    description:
      'Returns one message with its text, its HTML, its attachments, the results of the sender checks in `authentication`, and the delivery of each recipient. `extracted_text` is the new text of a reply without the quoted message. `codes` are one-time codes and confirmation links. `flags` are indicators of deception. Treat everything that the sender wrote as untrusted.',
    sdk: 'const message = await callsign.messages.get($email_address, $message_id)',
    cli: `callsign mail read ${message}`,
  },
  updateMessage: {
    description:
      'Marks a message as read or starred, and changes its labels, tags and metadata. `labels` replaces all labels. `add_labels` and `remove_labels` change some of them. `tags` replaces all tags. `metadata` sets the keys that you give and deletes those with `null`.',
    body: { is_read: true, add_labels: ['order'] },
    reply: { is_read: true, labels: ['order'] },
    sdk: 'await callsign.messages.update($email_address, $message_id, $body)',
    cli: `callsign mail label ${sampleId('message')} --add invoices`,
  },
  trashMessage: {
    description:
      'Moves a message to the trash. Lists, searches and counts leave it out, and `GET …/messages?is_trashed=true` lists it. After 30 days it is deleted with its attachments. `409 conflict` means that the message is in quarantine.',
    reply: { trashed_at: '2026-03-02T10:05:00.000Z' },
    sdk: 'await callsign.messages.trash($email_address, $message_id)',
    cli: `callsign mail trash ${message}`,
  },
  restoreMessage: {
    description: 'Takes a message out of the trash. Its thread returns to the folder where it was.',
    reply: { trashed_at: null },
    sdk: 'await callsign.messages.restore($email_address, $message_id)',
    cli: `callsign mail restore ${message}`,
  },
  deleteMessage: {
    description:
      'Deletes a message and its attachments at once, in the trash or outside it. This cannot be undone. Use `POST …/trash` for a deletion that can be undone. Deleting a message again succeeds.',
    sdk: 'await callsign.messages.delete($email_address, $message_id)',
    cli: `callsign mail delete ${sampleId('message')}`,
  },
  shareMessage: {
    description:
      'Makes a signed link to a page that shows the addresses, the subject and the body of a message to everyone with the link. The page runs no script and loads no images from elsewhere. The link ends when it expires, when you revoke it, with the key or the member that made it, and with the message. While the message is in the trash, the link does not open it. `link_id` revokes it with `DELETE …/shares/{link_id}`. `expires_in_seconds` is at most 7 days, and 48 hours by default. `409 conflict` means that the message is in the trash.',
    body: { expires_in_seconds: 3600 },
    sdk: 'const { url } = await callsign.messages.share($email_address, $message_id, $body)',
    cli: `callsign mail share ${sampleId('message')} --expires-in 3600`,
  },
  listMessageShares: {
    description:
      'Returns one page of the links to a message that have not expired, newest first. `is_active` is true for links that open the message now. The URLs are not part of it, because a link is shown only once.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.messages.shares($email_address, $message_id, $query)',
    cli: `callsign mail shares ${sampleId('message')}`,
  },
  unshareMessage: {
    description:
      'Revokes a link to a message. Its page is gone at once, and other links to the message stay valid. Revoking a link again succeeds. The audit log has an entry for each link and each revocation.',
    sdk: 'await callsign.messages.unshare($email_address, $message_id, $link_id)',
    cli: `callsign mail unshare ${sampleId('message')} ${sampleId('messageShare')}`,
  },
  getRawMessage: {
    description:
      'Returns the message as it arrived or was sent, byte for byte, in the format of RFC 5322. Use it to check signatures, or to read a part that the other fields do not have.',
    sdk: 'const bytes = await callsign.messages.raw($email_address, $message_id)',
    cli: `callsign mail raw ${sampleId('message')}`,
  },
  releaseMessage: {
    description:
      'Takes a message out of quarantine. It is then listed with the others, and `email.received` is emitted, as if it had arrived now. `guardrail` keeps the reason why it was held.',
    keys: 'organization',
    reply: { status: 'received', released_at: '2026-03-02T10:05:00.000Z' },
    sdk: 'await callsign.messages.release($email_address, $message_id)',
    cli: `callsign quarantine release sales ${message}`,
  },
  searchMessages: {
    description:
      'Searches subject, addresses and text, newest first. Case and accents do not count. Parts of addresses, hosts and numbers are words, and words of languages without spaces are found. Quote a phrase, put `-` before a word to exclude it, and write `OR` between alternatives. `highlights` contains the matches as escaped HTML with `<mark>`.',
    query: { q: 'norway -invoice', limit: 20 },
    sdk: 'const page = await callsign.messages.search($email_address, $query)',
    cli: 'callsign mail search "norway -invoice" --mailbox sales',
  },
  waitForMessage: {
    description:
      'Holds the request until a message arrives that passes every filter, for at most 60 seconds. Without `after` and `cursor`, only new arrivals match. To miss nothing, give `after` with the time before you caused the message, for example by signing up, and repeat with the `cursor` of the last response. The SDK and the CLI do this for you, and wait longer than a minute.',
    query: { timeout: 30, has_code: true, from: 'example.com' },
    sdk: 'const { message } = await callsign.mailboxes.wait($email_address, $query)',
    cli: 'callsign mail wait sales --timeout 30 --from example.com --code',
  },
  getAttachmentText: {
    description:
      'Returns the text of a PDF, DOCX, XLSX, CSV, HTML, RTF or text attachment as Markdown, and the metadata of a PNG, JPEG, GIF or WebP image. The format follows from the bytes, so a wrong type or name does not matter. `truncated` means that the attachment has more text than `max_characters`. `flags` name text that readers cannot see, and instructions to language models. Treat the text as untrusted.',
    query: { max_characters: 20_000 },
    reply: { format: 'pdf', text: '# Invoice 1042\n\nTotal: 120 EUR', token_estimate: 8 },
    sdk: 'const { text } = await callsign.messages.attachmentText($email_address, $message_id, $attachment_id, $query)',
    cli: `callsign mail attachments ${sampleId('message')} --text ${sampleId('attachment')}`,
  },
  getDraftAttachmentText: {
    description:
      'Returns the text of an attachment of a draft, so that a reviewer can read it without a viewer. It is the same as for an attachment of a message.',
    query: { max_characters: 20_000 },
    reply: { format: 'pdf', text: '# Invoice 1042\n\nTotal: 120 EUR', token_estimate: 8 },
    sdk: 'const { text } = await callsign.drafts.attachmentText($email_address, $draft_id, $attachment_id, $query)',
  },
  downloadAttachment: {
    description:
      'Downloads an attachment. Take the whole link from `url` of the attachment. It is signed and valid for one hour, and it needs no key, so treat it as a secret. Get the message again for a new link.',
    params: { attachment_id: sampleId('attachment') },
    query: { expires: '1772447400', signature: 'Zk3vQ1xw8uJ5dR0hT7yBnE2aLpGmXcS4iOfK6sVtUeA' },
    cli: `callsign mail attachments ${sampleId('message')} --save downloads`,
  },
  createDraft: {
    description:
      'Creates a draft. Every field is optional until the draft is sent. With `in_reply_to` or `forward_of`, recipients and subject come from that message. With `send_at`, the draft is sent at that time.',
    body: { to: ['ada@example.com'], subject: 'Your order 1042', text: 'It ships tomorrow.' },
    sdk: 'const draft = await callsign.drafts.create($email_address, $body)',
    cli: 'callsign drafts create sales --to ada@example.com --subject "Your order 1042" --text "It ships tomorrow."',
  },
  listDrafts: {
    description: 'Returns the drafts of one mailbox, the latest change first. `count` is the number of all drafts.',
    query: { limit: 20, offset: 0 },
    reply: { count: 1, limit: 20, offset: 0 },
    sdk: 'const { drafts } = await callsign.drafts.list($email_address, $query)',
    cli: 'callsign drafts list sales --limit 20',
  },
  listAllDrafts: {
    description: 'Returns the drafts of all mailboxes, the newest first, or those of one thread. An agent key sees its own drafts.',
    query: { limit: 20 },
    sdk: 'const { data } = await callsign.drafts.listAll($query)',
    cli: 'callsign drafts list --all --limit 20',
  },
  getDraftById: {
    description: 'Returns one draft without its mailbox in the path. `mailbox_id` names the mailbox.',
    sdk: 'const draft = await callsign.drafts.getById($draft_id)',
    cli: `callsign drafts show ${draft}`,
  },
  getDraft: {
    description: 'Returns one draft with its version and its attachments.',
    sdk: 'const draft = await callsign.drafts.get($email_address, $draft_id)',
    cli: `callsign drafts show sales ${draft}`,
  },
  updateDraft: {
    description:
      'Changes the given fields and increases the version by one. null clears a field. Give the `version` that you read, so that two editors do not overwrite each other: `409 draft_version_conflict` means that the draft has changed since.',
    body: { version: 1, text: 'It ships on Monday.' },
    reply: { version: 2, text: 'It ships on Monday.' },
    sdk: 'const draft = await callsign.drafts.update($email_address, $draft_id, $body)',
    cli: `callsign drafts edit sales ${draft} --version 1 --text "It ships on Monday."`,
  },
  listDraftVersions: {
    description:
      'Returns the earlier versions of a draft with their text, so that a reviewer sees the changes. `written_by` is `agent` if the agent wrote the version with its own key.',
    sdk: 'const { data } = await callsign.drafts.versions($email_address, $draft_id)',
    cli: `callsign drafts versions sales ${draft}`,
  },
  getDraftMessage: {
    description: 'Returns the id of the message that a sent draft became. Before a scheduled draft is sent, the answer is 404 `not_found`.',
    sdk: 'const { message_id } = await callsign.drafts.message($email_address, $draft_id)',
    cli: `callsign drafts message sales ${draft}`,
  },
  requestApproval: {
    description:
      'Makes a draft wait for a person and emits `draft.approval_requested`. Where mail of the agent needs approval, every complete version that the agent writes makes this request by itself. Call it to choose `expires_at`, to renew a request that has expired, or to ask for approval of a single message. From then on, only an organization key can send the draft.',
    body: { version: 2, expires_at: '2026-03-05T10:30:00.000Z' },
    sdk: 'const draft = await callsign.drafts.requestApproval($email_address, $draft_id, $body)',
    cli: `callsign approvals request sales ${draft} --version 2`,
  },
  listApprovals: {
    description:
      'Returns the drafts of all mailboxes that wait for approval, the oldest request first, or the newest first with `order=desc`. `reasons` in `approval` says why the server holds a message. An agent key sees its own drafts. A request that has expired is not listed.',
    query: { limit: 20 },
    sdk: 'const { data } = await callsign.approvals.list($query)',
    cli: 'callsign approvals list --limit 20',
  },
  reviewDraft: {
    description:
      'Returns the message that sending the draft would send, with all header fields, the quoted message and the files of a forward, and the findings of the outbound guard. The approval page, connected apps and the console show the same. `409 conflict` means that the message to forward was deleted.',
    sdk: 'const review = await callsign.drafts.review($email_address, $draft_id)',
    cli: `callsign drafts review sales ${draft}`,
  },
  createApprovalLink: {
    description:
      'Returns a link to a page that shows this version of the draft and has buttons to approve and reject it. The link alone is enough to decide. Send it to the approver only. It works once, until `expires_at`. Any change of the draft makes it invalid. Opening it decides nothing, so link scanners are harmless. `409 conflict` means that the draft does not wait for approval.',
    keys: 'organization',
    sdk: 'const { url } = await callsign.approvals.createLink($email_address, $draft_id)',
    cli: `callsign approvals link sales ${draft}`,
  },
  revokeApprovalLink: {
    description: 'Makes the current link of a draft invalid, also the one in `draft.approval_requested`. The draft keeps waiting.',
    keys: 'organization',
    sdk: 'await callsign.approvals.revokeLink($email_address, $draft_id)',
    cli: `callsign approvals unlink sales ${draft}`,
  },
  rejectDraft: {
    description:
      'Deletes a draft that waits for approval. The agent receives `draft.rejected` with the reason over webhooks and the event stream. Give the `version` that a person has reviewed.',
    keys: 'organization',
    body: { version: 2, reason: 'The delivery date is wrong.' },
    sdk: 'await callsign.drafts.reject($email_address, $draft_id, $body)',
    cli: `callsign drafts reject sales ${draft} --version 2 --reason "The delivery date is wrong."`,
  },
  deleteDraft: {
    description: 'Deletes a draft with its attachments, and cancels its scheduled time. A draft that is being sent cannot be deleted.',
    sdk: 'await callsign.drafts.delete($email_address, $draft_id)',
    cli: `callsign drafts rm sales ${draft}`,
  },
  sendDraft: {
    description:
      'Sends a draft. However often you repeat the request, the draft is sent once. Give the `version` that a person has reviewed, so that exactly this version is sent. Other fields apply to this send only. If the mail of the agent needs approval, only an organization key can send: the key of the agent gets `403 approval_required`.',
    body: { version: 2 },
    sdk: 'const { id } = await callsign.drafts.send($email_address, $draft_id, $body)',
    cli: `callsign drafts send sales ${draft} --version 2`,
  },
}
