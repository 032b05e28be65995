// Mail rules: whose mail an agent takes in and whom it may write to; and what the rules decided on a message.
import Type from 'typebox'
import { operation } from './operation.ts'
import { Cursor, Deleted, id, Limit, nullableString, page, strict, Timestamp } from './schema.ts'

const word = <Word extends string>(words: readonly Word[], options: Record<string, unknown> = {}) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...options })

export const MailMode = word(['open', 'allowlist'], {
  description: 'open: everybody whom no rule blocks. allowlist: only whom a rule allows (and, inbound, answers to what the agent wrote).',
})

const RuleDirection = word(['inbound', 'outbound', 'both'])
const RuleAction = word(['allow', 'block'])
const RuleStatus = word(['active', 'paused'])

export const MailRule = Type.Object(
  {
    id: Type.String(),
    agent_handle: Type.String(),
    direction: RuleDirection,
    action: RuleAction,
    entry: Type.String({ description: 'An address, or a domain, which stands for its subdomains too.' }),
    entry_type: word(['address', 'domain']),
    reason: nullableString(),
    status: RuleStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'MailRule' },
)

/** What the guardrails decided when a message arrived or was sent, and why. It never changes: a release is told by `released_at`. */
export const Guardrail = Type.Object(
  {
    decision: word(['allowed', 'quarantined']),
    rule_id: nullableString({ description: 'The rule that decided; null when none did, or several recipients came under different ones.' }),
    basis: word(['author', 'address_rule', 'domain_rule', 'dmarc', 'hosted_domain', 'reply', 'mode'], {
      description:
        'The step that decided. author: From does not name exactly one author. hosted_domain: mail from outside in the name of a domain whose mailboxes are here, without its signature.',
    }),
    reason: Type.String({ description: 'A sentence for people.' }),
  },
  { $id: 'Guardrail' },
)

const handleParams = { handle: Type.String({ minLength: 1, maxLength: 64, description: 'The agent handle, or the identity id.' }) }
const ruleParams = strict({ ...handleParams, rule_id: id('mailRule') })
const Entry = Type.String({ minLength: 1, maxLength: 320, description: 'user@example.com, or example.com for it and its subdomains.' })
const Reason = nullableString({ maxLength: 500 })

export const createMailRule = operation({
  id: 'createMailRule',
  method: 'POST',
  path: '/api/v1/identities/{handle}/mail-rules',
  summary: 'Adds a rule. An entry has one rule a direction: a second is 409, whatever its action and status.',
  tag: 'Mail rules',
  params: strict(handleParams),
  body: strict({
    direction: RuleDirection,
    action: RuleAction,
    entry: Entry,
    reason: Type.Optional(Reason),
    status: Type.Optional(RuleStatus),
  }),
  status: 201,
  reply: MailRule,
  errors: ['conflict'],
  idempotent: true,
})

export const listMailRules = operation({
  id: 'listMailRules',
  method: 'GET',
  path: '/api/v1/identities/{handle}/mail-rules',
  summary: 'Lists the rules of an agent, newest first. An agent may read its own.',
  tag: 'Mail rules',
  params: strict(handleParams),
  query: strict({
    direction: Type.Optional(RuleDirection),
    action: Type.Optional(RuleAction),
    status: Type.Optional(RuleStatus),
    entry: Type.Optional(Entry),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(MailRule),
})

export const getMailRule = operation({
  id: 'getMailRule',
  method: 'GET',
  path: '/api/v1/identities/{handle}/mail-rules/{rule_id}',
  summary: 'Gets one rule.',
  tag: 'Mail rules',
  params: ruleParams,
  status: 200,
  reply: MailRule,
})

export const updateMailRule = operation({
  id: 'updateMailRule',
  method: 'PATCH',
  path: '/api/v1/identities/{handle}/mail-rules/{rule_id}',
  summary: 'Changes a rule; a paused one decides nothing.',
  tag: 'Mail rules',
  params: ruleParams,
  body: strict(
    {
      direction: Type.Optional(RuleDirection),
      action: Type.Optional(RuleAction),
      entry: Type.Optional(Entry),
      reason: Type.Optional(Reason),
      status: Type.Optional(RuleStatus),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: MailRule,
  errors: ['conflict'],
})

export const deleteMailRule = operation({
  id: 'deleteMailRule',
  method: 'DELETE',
  path: '/api/v1/identities/{handle}/mail-rules/{rule_id}',
  summary: 'Deletes a rule; messages keep what it decided. Idempotent.',
  tag: 'Mail rules',
  params: ruleParams,
  status: 200,
  reply: Deleted,
})
