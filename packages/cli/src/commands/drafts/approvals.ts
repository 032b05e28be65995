// approvals list|request|link|unlink, for drafts that wait for a person. drafts send and drafts reject decide on them.
import { type Command, text } from '../../command.ts'
import { listCommand, listOptions, oldestOption, orderOf } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'
import { mailboxOptions } from '../mail/mailbox.ts'
import { locateDraft } from './drafts.ts'
import { atVersion, versionOption } from './mail-body.ts'

export const approvalCommands: Command[] = [
  listCommand({
    words: 'approvals list',
    about: 'Lists the drafts that wait for approval in all mailboxes, newest request first.',
    example: 'callsign approvals list',
    operations: ['listApprovals'],
    options: {
      agent: { type: 'string', value: 'HANDLE', field: 'agent', about: 'Only the drafts of this agent.' },
      ...oldestOption,
      ...listOptions,
    },
    call: (client, query, _given, values) => client.approvals.list({ ...query, ...orderOf(values) }),
    columns: {
      DRAFT: ({ draft }) => draft.id,
      AGENT: (one) => one.agent_handle,
      VERSION: ({ draft }) => String(draft.version),
      REQUESTED: ({ draft }) => ago(draft.approval?.requested_at ?? null),
      TO: ({ draft }) => draft.to.join(', '),
      SUBJECT: ({ draft }) => draft.subject ?? '',
      REASON: ({ draft }) => draft.approval?.reasons.join(' ') ?? '',
    },
  }),
  {
    words: 'approvals request',
    takes: '[MAILBOX] ID',
    about: 'Requests approval of a draft, or renews a request that has expired.',
    example: 'callsign approvals request drf_01jq8 --expires 2027-01-31T09:00:00Z',
    operations: ['requestApproval', 'getDraftById'],
    options: {
      expires: { type: 'string', value: 'TIME', about: 'The end of the request, at most 30 days ahead.' },
      ...versionOption,
      ...mailboxOptions,
    },
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const expires = text(values, 'expires')
      const body = { ...atVersion(values), ...(expires !== undefined && { expires_at: expires }) }
      const draft = await client.drafts.requestApproval(mailbox, id, body)
      context.output.result(draft, () => `${draft.id} waits for approval until ${draft.approval?.expires_at}.`)
      return 0
    },
  },
  {
    words: 'approvals link',
    takes: '[MAILBOX] ID',
    about: 'Prints the one-time link that approves or rejects the current version of a draft.',
    example: 'callsign approvals link drf_01jq8',
    operations: ['createApprovalLink', 'getDraftById'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const link = await client.approvals.createLink(mailbox, id)
      context.output.result(link, () => link.url)
      return 0
    },
  },
  {
    words: 'approvals unlink',
    takes: '[MAILBOX] ID',
    about: 'Revokes the link of a draft. The draft keeps waiting.',
    example: 'callsign approvals unlink drf_01jq8',
    operations: ['revokeApprovalLink', 'getDraftById'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const revoked = await client.approvals.revokeLink(mailbox, id)
      context.output.result(revoked, () => `The link of ${revoked.draft_id} is revoked.`)
      return 0
    },
  },
]
