// The resources of the API, which are the tags of the OpenAPI document. The reference has one page per resource, in this order.

/** The description of each tag, by its name. CommonMark. */
export const resources: Record<string, string> = {
  'Identity and caller':
    'An identity is an agent with one handle. It owns a mailbox, a tunnel, and if you add them a phone number, iMessage conversations and secrets. These operations also return the owner of the calling key, and the audit log.',
  Keys: 'An API key is an organization key or the key of one agent. Send it as `Authorization: Bearer …`.',
  Usage: 'Counts of mail per day, stored bytes with their quotas, and the preview of a retention.',
  Requests: 'The API requests of the last 30 days, without the values that they carried.',
  Addresses:
    'An identity has one or more addresses, on the mail domain and on domains of your own. Its mailbox receives the mail to all of them.',
  Mailboxes: 'Each identity has one mailbox for the mail to all its addresses.',
  Mail: 'Sending from any agent, and reading the mail of all agents that the key can access.',
  Messages: 'The messages of one mailbox. `{email_address}` is one of its addresses, or the handle of its agent.',
  Threads: 'A thread is a message with its replies. The server finds it by the headers of the messages.',
  Labels: 'Labels of a mailbox have a color. Messages and threads may have labels that are not defined here.',
  Drafts:
    'A draft has a version and is sent once, now or at a scheduled time. With draft approval, a person reviews the mail of an agent before it is sent.',
  Templates: 'Subject and bodies of messages with variables, which are changed and published in two steps.',
  Domains: 'Domains of your own, verified by DNS records.',
  'Mail rules': 'Rules decide from whom an agent accepts mail, and to whom it may write.',
  Suppressions: 'Addresses to which the organization no longer sends, because they bounced, complained, or asked for it.',
  'Phone numbers': 'Phone numbers receive texts (SMS and MMS) for an agent. They cannot send.',
  iMessage: 'People start a conversation with an agent by a text to the line of the server.',
  'Network tunnels': 'A tunnel gives a program on any machine a public URL.',
  Vault: 'The vault stores secrets that only its clients can decrypt. The SDK and the CLI do the cryptography.',
  Events: 'Everything that happens is an event. Read events from the list or the stream, or receive them as webhooks.',
  Webhooks: 'A webhook sends events to a URL of yours, signed by the scheme of Standard Webhooks, with retries and a log of every attempt.',
  Simulator: 'The simulator plays phones and providers on servers without real ones.',
  Health: 'For load balancers. No key is needed.',
}
