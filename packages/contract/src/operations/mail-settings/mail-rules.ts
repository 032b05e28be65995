// Mail rules decide which senders an agent accepts and which recipients it may write to. Their decisions are part of each message.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { addressCharactersMax, Cursor, Deleted, id, Limit, nullableString, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'

const word = <Word extends string>(words: readonly Word[], options: Record<string, unknown> = {}) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...options })

export const MailMode = word(['open', 'allowlist'], {
  description:
    "open allows every address that no rule blocks. allowlist allows only addresses that a rule allows and, inbound, answers to the agent's mail.",
})

const RuleDirection = word(['inbound', 'outbound', 'both'], { description: 'The mail that the rule is about: received, sent, or both.' })
const RuleAction = word(['allow', 'block'], { description: 'allow lets mail pass, block quarantines received mail and refuses sent mail.' })
const RuleStatus = word(['active', 'paused'], { description: 'A paused rule has no effect.' })

export const MailRule = Type.Object(
  {
    id: Type.String(),
    agent_handle: nullableString({ description: 'null for a rule of every agent.' }),
    direction: RuleDirection,
    action: RuleAction,
    entry: Type.String({ description: 'An address, or a domain with its subdomains.' }),
    entry_type: word(['address', 'domain']),
    reason: nullableString(),
    status: RuleStatus,
    client_id: clientIdField,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'MailRule' },
)

/** The decision of the guardrails when a message arrived or was sent, with its reason. It never changes. `released_at` marks a release. */
export const Guardrail = Type.Object(
  {
    decision: word(['allowed', 'quarantined']),
    rule_id: nullableString({
      description: 'The rule that decided. null if none did, or if different rules decided for several recipients.',
    }),
    basis: word(['author', 'address_rule', 'domain_rule', 'dmarc', 'hosted_domain', 'reply', 'mode'], {
      description:
        'The step that decided. author means that From does not name exactly one author. hosted_domain means unsigned mail from outside in the name of a domain hosted here.',
    }),
    reason: Type.String({ description: 'A sentence for people.' }),
  },
  { $id: 'Guardrail' },
)

/** The handle that stands for every agent in paths of rules. */
export const everyAgent = '*'

const handleParams = {
  handle: Type.String({ minLength: 1, description: 'The agent handle, or the identity id, or `*` for the rules of every agent.' }),
}
const ruleParams = strict({ ...handleParams, rule_id: id('mailRule') })
const Entry = Type.String({
  minLength: 1,
  maxLength: addressCharactersMax,
  description: 'An address such as user@example.com, or a domain such as example.com, which includes its subdomains.',
})
const Reason = nullableString({ maxLength: 500, description: 'The reason for the rule, which decisions quote.' })

export const createMailRule = operation({
  id: 'createMailRule',
  method: 'POST',
  path: '/api/v1/identities/{handle}/mail-rules',
  summary: 'Adds a rule. An entry can have one rule per direction. A second one is rejected with 409, regardless of its action and status.',
  tag: 'Mail rules',
  scopes: ['rules:write'],
  params: strict(handleParams),
  body: strict({
    direction: RuleDirection,
    action: RuleAction,
    entry: Entry,
    reason: Type.Optional(Reason),
    status: Type.Optional(RuleStatus),
    client_id: Type.Optional(ClientId),
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
  summary: 'Lists the rules of an agent, newest first. An agent can read its own rules, and those of every agent.',
  tag: 'Mail rules',
  scopes: ['rules:read'],
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
  scopes: ['rules:read'],
  params: ruleParams,
  status: 200,
  reply: MailRule,
})

export const updateMailRule = operation({
  id: 'updateMailRule',
  method: 'PATCH',
  path: '/api/v1/identities/{handle}/mail-rules/{rule_id}',
  summary: 'Changes a rule. A paused rule has no effect.',
  tag: 'Mail rules',
  scopes: ['rules:write'],
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
  summary: 'Deletes a rule. Messages keep its past decisions. Idempotent.',
  tag: 'Mail rules',
  scopes: ['rules:write'],
  params: ruleParams,
  status: 200,
  reply: Deleted,
})
