// The calls that both clients make against a server of their own. `$name` in an argument is a value that an earlier call saved.

/** One call. `save` maps names to places in the reply, such as `data.0.id`. `error` is the code of an expected ApiError. */
export type Call = {
  /** `resource.method` in the names of the TypeScript client. */
  call: string
  path?: string[]
  /** Query parameters, or the fields of the body. */
  args?: Record<string, unknown>
  save?: Record<string, string>
  error?: string
  /** Repeats the call until this place in the reply has the value. */
  until?: { at: string; is: unknown }
}

const text = { subject: 'Your code', text: 'Your code is 492816.' }

const table = { filename: 'table.csv', content: Buffer.from('Item,Price\nPen,2').toString('base64') }

export const calls: Call[] = [
  { call: 'me' },
  { call: 'identities.create', args: { agent_handle: 'sales', display_name: 'Sales' }, save: { since: 'created_at' } },
  { call: 'identities.create', args: { agent_handle: 'support' } },
  { call: 'identities.create', args: { agent_handle: 'sales' }, error: 'handle_already_taken' },
  { call: 'identities.list', args: { limit: 1 } },
  { call: 'identities.get', path: ['sales'] },
  { call: 'identities.get', path: ['unknown'], error: 'not_found' },
  { call: 'identities.update', path: ['sales'], args: { description: 'Sells – æøå 金庫' } },
  { call: 'addresses.create', path: ['support'], args: { local_part: 'help.desk', is_primary: true } },
  { call: 'addresses.create', path: ['sales'], args: { local_part: 'help.desk' }, error: 'address_already_taken' },
  { call: 'addresses.setPrimary', path: ['support', 'support@agents.localhost'] },
  { call: 'addresses.list', path: ['support'], args: { limit: 5 } },
  { call: 'addresses.delete', path: ['support', 'help.desk@agents.localhost'] },
  { call: 'mailboxes.list', args: { limit: 10 } },
  { call: 'mailboxes.get', path: ['sales@agents.localhost'] },

  { call: 'keys.create', args: { name: 'Agent key', type: 'agent', agent_handle: 'sales' }, save: { key: 'id' } },
  { call: 'keys.list' },
  { call: 'keys.revoke', path: ['$key'] },
  { call: 'audit.list', args: { limit: 2 } },
  { call: 'usage.list', args: { by: 'agent', start_date: '2020-01-01', end_date: '2020-01-31' } },
  { call: 'usage.list', args: { start_date: '2020-02-30' }, error: 'validation_error' },
  {
    call: 'requests.list',
    args: { method: 'GET', path: '/api/v1/audit' },
    until: { at: 'data.0.operation', is: 'listAudit' },
    save: { request: 'data.0.id' },
  },
  { call: 'requests.get', path: ['$request'] },
  { call: 'requests.get', path: ['req_unknown'], error: 'not_found' },

  { call: 'mail.send', args: { agent: 'support', to: ['sales@agents.localhost'], ...text, attachments: [table] }, save: { sent: 'id' } },
  {
    call: 'mailboxes.wait',
    path: ['sales'],
    args: { after: '$since', has_code: true, timeout: 20 },
    save: { message: 'message.id', thread: 'message.thread_id' },
  },
  { call: 'messages.get', path: ['support', '$sent'], until: { at: 'status', is: 'delivered' } },
  { call: 'mail.list', args: { agent: 'sales', limit: 5 } },
  { call: 'messages.list', path: ['sales'], args: { is_read: false, limit: 5 } },
  { call: 'messages.get', path: ['sales', '$message'], save: { attachment: 'attachments.0.id' } },
  { call: 'messages.update', path: ['sales', '$message'], args: { is_read: true, add_labels: ['order'] } },
  { call: 'messages.update', path: ['sales', '$message'], args: {}, error: 'validation_error' },
  { call: 'messages.search', path: ['sales'], args: { q: 'code' } },
  { call: 'messages.raw', path: ['sales', '$message'] },
  { call: 'messages.attachmentText', path: ['sales', '$message', '$attachment'], args: { max_characters: 50 } },
  { call: 'messages.attachmentText', path: ['sales', '$message', '$message'], error: 'not_found' },
  { call: 'messages.release', path: ['sales', '$message'] },
  { call: 'messages.reply', path: ['sales', '$message'], args: { text: 'Thanks.' } },
  { call: 'messages.forward', path: ['sales', '$message'], args: { to: ['support@agents.localhost'], text: 'See below.' } },
  {
    call: 'messages.send',
    path: ['sales'],
    args: { to: ['ada@example.com'], subject: 'Offer', html: '<p>Hello</p>', reply_to: ['sales@agents.localhost'] },
  },
  { call: 'threads.list', path: ['sales'] },
  { call: 'threads.get', path: ['sales', '$thread'] },

  {
    call: 'drafts.create',
    path: ['sales'],
    args: { to: ['ada@example.com'], subject: 'Draft', text: 'One' },
    save: { draft: 'id', version: 'version' },
  },
  { call: 'drafts.list', path: ['sales'] },
  { call: 'drafts.get', path: ['sales', '$draft'] },
  { call: 'drafts.listAll', args: { limit: 10 } },
  { call: 'drafts.getById', path: ['$draft'] },
  { call: 'drafts.update', path: ['sales', '$draft'], args: { text: 'Two', version: '$version' } },
  { call: 'drafts.message', path: ['sales', '$draft'], error: 'not_found' },
  { call: 'drafts.versions', path: ['sales', '$draft'] },
  { call: 'drafts.send', path: ['sales', '$draft'], args: {} },
  { call: 'drafts.message', path: ['sales', '$draft'] },
  { call: 'drafts.create', path: ['sales'], args: { subject: 'Left' }, save: { other: 'id' } },
  { call: 'drafts.reject', path: ['sales', '$other'], args: { reason: 'No' } },
  { call: 'drafts.create', path: ['sales'], args: { subject: 'Left' }, save: { third: 'id' } },
  { call: 'drafts.delete', path: ['sales', '$third'] },
  { call: 'drafts.create', path: ['sales'], args: { to: ['ada@example.com'], subject: 'Ask', text: 'One' }, save: { asked: 'id' } },
  { call: 'drafts.requestApproval', path: ['sales', '$asked'], args: {} },
  { call: 'approvals.list' },
  { call: 'approvals.createLink', path: ['sales', '$asked'] },
  { call: 'approvals.revokeLink', path: ['sales', '$asked'] },

  { call: 'threads.listAll', args: { agent: 'sales' } },
  { call: 'threads.getById', path: ['$thread'] },
  { call: 'threads.update', path: ['$thread'], args: { folder: 'archive', add_labels: ['order'] } },
  { call: 'threads.delete', path: ['$thread'] },
  { call: 'threads.restore', path: ['$thread'] },
  { call: 'messages.trash', path: ['sales', '$message'] },
  { call: 'messages.restore', path: ['sales', '$message'] },
  { call: 'mail.sendBatch', args: { messages: [{ agent: 'sales', to: ['ada@example.com'], subject: 'One', text: 'One' }] } },
  { call: 'mail.updateMessages', args: { ids: ['$message'], is_starred: true } },
  { call: 'mail.getMessages', args: { ids: ['$message'] } },
  { call: 'messages.delete', path: ['sales', '$message'] },

  { call: 'organization.get' },
  { call: 'organization.update', args: { sending_limits: { messages_per_hour: 100 } } },
  { call: 'organization.pause', args: { reason: 'Check' } },
  { call: 'organization.resume' },
  { call: 'simulator.mail', args: { to: 'sales@agents.localhost', sample: 'hidden_text' } },

  { call: 'domains.create', args: { domain: 'example.com' }, save: { domain: 'id' } },
  { call: 'domains.list' },
  { call: 'domains.get', path: ['$domain'] },
  { call: 'domains.verify', path: ['$domain'] },
  { call: 'domains.setDefault', path: ['$domain'], error: 'domain_not_verified' },
  { call: 'domains.zoneFile', path: ['$domain'] },
  { call: 'domains.delete', path: ['$domain'] },

  {
    call: 'mailRules.create',
    path: ['sales'],
    args: { direction: 'inbound', action: 'block', entry: 'spam.example' },
    save: { rule: 'id' },
  },
  { call: 'mailRules.list', path: ['sales'] },
  { call: 'mailRules.get', path: ['sales', '$rule'] },
  { call: 'mailRules.update', path: ['sales', '$rule'], args: { reason: 'Known spam' } },
  { call: 'mailRules.delete', path: ['sales', '$rule'] },
  { call: 'suppressions.create', args: { email_address: 'gone@example.com' } },
  { call: 'suppressions.list' },
  { call: 'suppressions.delete', path: ['gone@example.com'] },

  {
    call: 'templates.create',
    args: {
      name: 'Order',
      alias: 'order',
      subject: 'Order {{{ID}}}',
      html: '<p>Dear {{NAME}}</p>',
      variables: [{ key: 'NAME', type: 'string' }],
    },
  },
  { call: 'templates.render', path: ['order'], args: {}, error: 'conflict' },
  { call: 'templates.publish', path: ['order'] },
  { call: 'templates.render', path: ['order'], args: { variables: { ID: 1042, NAME: 'Ada & Bob' } } },
  { call: 'templates.update', path: ['order'], args: { subject: 'Your order' } },
  { call: 'templates.get', path: ['order'] },
  { call: 'templates.list', args: { limit: 5 } },
  { call: 'templates.delete', path: ['order'] },

  { call: 'phone.provision', args: { agent_handle: 'sales', region: 'NY' }, save: { number: 'id', e164: 'phone_number' } },
  { call: 'phone.list' },
  { call: 'simulator.advanceNumber', path: ['$number'], args: { to: 'ready' } },
  { call: 'phone.get', path: ['$number'] },
  { call: 'simulator.sms', args: { to: '$e164', from: '+16502530000', text: 'Your code is 492816' } },
  { call: 'phone.wait', path: ['$number'], args: { after: '$since', timeout: 20 }, save: { sms: 'message.id' } },
  { call: 'phone.messages', path: ['$number'], args: { limit: 5 } },
  { call: 'phone.message', path: ['$number', '$sms'] },
  { call: 'phone.updateMessage', path: ['$number', '$sms'], args: { is_read: true } },
  { call: 'phone.release', path: ['$number'] },
  { call: 'simulator.setFault', args: { provider: 'phone', op: 'order', fail: 'timeout', times: 1 } },
  { call: 'simulator.outbox', args: { limit: 5 } },

  { call: 'imessage.router', args: { agent: 'sales' } },
  { call: 'simulator.imessage', args: { from: '+14155550123', text: 'connect @sales' }, save: { conversation: 'conversation_id' } },
  { call: 'imessage.conversations' },
  { call: 'imessage.conversation', path: ['$conversation'] },
  { call: 'imessage.send', args: { conversation_id: '$conversation', text: 'Hello' } },
  { call: 'imessage.history', args: { conversation_id: '$conversation' } },
  { call: 'imessage.disconnect', path: ['$conversation'] },

  { call: 'webhooks.create', args: { url: 'https://example.com/hook', events: ['email.received'] }, save: { webhook: 'id' } },
  { call: 'webhooks.list' },
  { call: 'webhooks.get', path: ['$webhook'] },
  { call: 'webhooks.update', path: ['$webhook'], args: { description: 'Orders' } },
  { call: 'webhooks.rotateSecret', path: ['$webhook'] },
  { call: 'webhooks.test', path: ['$webhook'] },
  { call: 'webhooks.deliveries', path: ['$webhook'] },
  { call: 'webhooks.delivery', path: ['whd_unknown'], error: 'not_found' },
  { call: 'webhooks.replay', path: ['whd_unknown'], error: 'not_found' },
  { call: 'webhooks.replayRange', path: ['$webhook'], args: { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' } },
  { call: 'webhooks.delete', path: ['$webhook'] },
  { call: 'events.createSocketToken' },
  { call: 'events.list', args: { types: 'email.received', limit: 1 } },

  { call: 'tunnels.list' },
  { call: 'tunnels.get', path: ['sales'] },
  { call: 'tunnels.update', path: ['sales'], args: { status: 'suspended' } },
  { call: 'tunnels.requests', path: ['sales'] },
  { call: 'tunnels.replay', path: ['sales', 'req_unknown'], error: 'not_found' },
  { call: 'identities.delete', path: ['support'] },
]
