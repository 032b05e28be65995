// Templates of messages, with variables. A template is changed as a draft, and used as it was last published.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { AddressText, Cursor, Deleted, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'
import { AddressOrAddresses, Subject } from '../mail/outbound-mail.ts'

/** Maximum templates of an organization. */
export const templatesMax = 1000

/** Maximum variables of a template. */
export const templateVariablesMax = 50

/** Maximum characters of the value of a variable. */
export const templateValueCharactersMax = 2000

const VariableKey = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,49}$', description: 'A name such as ORDER_ID.' })
const VariableValue = Type.Unsafe<string | number>({ type: ['string', 'number'], maxLength: templateValueCharactersMax })

const TemplateVariable = strict(
  {
    key: VariableKey,
    type: Type.Unsafe<'string' | 'number'>({ type: 'string', enum: ['string', 'number'], description: 'The type of its values.' }),
    fallback_value: Type.Optional(
      Type.Unsafe<string | number | null>({
        type: ['string', 'number', 'null'],
        maxLength: templateValueCharactersMax,
        description: 'The value if none is given. A variable without it is required.',
      }),
    ),
  },
  { $id: 'TemplateVariable' },
)

const statusField = Type.Unsafe<'draft' | 'published'>({
  type: 'string',
  enum: ['draft', 'published'],
  description: 'draft until it is published for the first time.',
})

const templateFields = {
  id: Type.String(),
  name: Type.String(),
  alias: nullableString({ description: 'A name of your own by which requests can name the template.' }),
  status: statusField,
  has_unpublished_changes: Type.Boolean({ description: 'True if the template was changed since it was published.' }),
  published_at: nullableTimestamp,
  client_id: clientIdField,
  created_at: Timestamp,
  updated_at: Timestamp,
}

const renderedFields = {
  from: nullableString({ description: 'The author, as in a message.' }),
  reply_to: Type.Array(Type.String()),
  subject: nullableString(),
  text: nullableString(),
  html: nullableString(),
}

export const TemplateItem = Type.Object(templateFields, { $id: 'TemplateItem' })

export const Template = Type.Object({ ...templateFields, ...renderedFields, variables: Type.Array(TemplateVariable) }, { $id: 'Template' })

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'A name for people.' })
const Alias = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: '^(?!tpl_)[A-Za-z0-9][A-Za-z0-9_-]{0,99}$',
  description: 'Letters, digits, hyphens and underscores. Unique in the organization, and not like an id.',
})
const body = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 500_000, description })

const contentInput = {
  alias: Type.Optional(Alias),
  from: Type.Optional(Type.Union([AddressText, Type.Null()], { description: 'The author, an address of the agent that sends.' })),
  reply_to: Type.Optional(Type.Union([AddressOrAddresses, Type.Null()], { description: 'Addresses for answers.' })),
  subject: Type.Optional(Type.Union([Subject, Type.Null()], { description: 'The subject, with {{{NAME}}} for variables.' })),
  text: Type.Optional(body('The body as plain text, with {{{NAME}}} for variables.')),
  html: Type.Optional(body('The body as HTML, with {{{NAME}}} for variables, and {{NAME}} for values to escape.')),
  variables: Type.Optional(
    Type.Array(TemplateVariable, { maxItems: templateVariablesMax, description: 'The variables that the template uses.' }),
  ),
}

const templatesPath = '/api/v1/templates'
const templateParams = strict({ template: Type.String({ minLength: 1, maxLength: 100, description: 'The id or the alias.' }) })

export const createTemplate = operation({
  id: 'createTemplate',
  method: 'POST',
  path: templatesPath,
  summary: 'Creates a template. {{{NAME}}} in subject, text and html stands for a variable. Publish it before you use it.',
  tag: 'Templates',
  scopes: ['templates:write'],
  body: strict({ name: Name, client_id: Type.Optional(ClientId), ...contentInput }),
  status: 201,
  reply: Template,
  errors: ['conflict'],
  idempotent: true,
})

export const listTemplates = operation({
  id: 'listTemplates',
  method: 'GET',
  path: templatesPath,
  summary: 'Lists templates, newest first.',
  tag: 'Templates',
  scopes: ['templates:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(TemplateItem),
})

export const getTemplate = operation({
  id: 'getTemplate',
  method: 'GET',
  path: `${templatesPath}/{template}`,
  summary: 'Gets one template with its content, as it was last changed.',
  tag: 'Templates',
  scopes: ['templates:read'],
  params: templateParams,
  status: 200,
  reply: Template,
})

export const updateTemplate = operation({
  id: 'updateTemplate',
  method: 'PATCH',
  path: `${templatesPath}/{template}`,
  summary: 'Changes a template. null clears a field, and omitted fields stay. The published content stays until you publish again.',
  tag: 'Templates',
  scopes: ['templates:write'],
  params: templateParams,
  body: strict({ name: Type.Optional(Name), ...contentInput }, { minProperties: 1 }),
  status: 200,
  reply: Template,
  errors: ['conflict'],
})

export const publishTemplate = operation({
  id: 'publishTemplate',
  method: 'POST',
  path: `${templatesPath}/{template}/publish`,
  summary: 'Makes the present content the one that is used.',
  tag: 'Templates',
  scopes: ['templates:write'],
  params: templateParams,
  status: 200,
  reply: Template,
  idempotent: true,
})

export const renderTemplate = operation({
  id: 'renderTemplate',
  method: 'POST',
  path: `${templatesPath}/{template}/render`,
  summary: 'Returns the published content with the values of its variables, as the fields of a message.',
  tag: 'Templates',
  scopes: ['templates:read'],
  params: templateParams,
  body: strict({
    variables: Type.Optional(
      Type.Unsafe<Record<string, string | number>>({
        type: 'object',
        additionalProperties: VariableValue,
        maxProperties: 2 * templateVariablesMax,
        description: 'Values by the name of the variable. Other names are ignored.',
      }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  reply: Type.Object(renderedFields, { $id: 'RenderedTemplate' }),
  errors: ['conflict'],
})

export const deleteTemplate = operation({
  id: 'deleteTemplate',
  method: 'DELETE',
  path: `${templatesPath}/{template}`,
  summary: 'Deletes a template.',
  tag: 'Templates',
  scopes: ['templates:write'],
  params: templateParams,
  status: 200,
  reply: Deleted,
})
