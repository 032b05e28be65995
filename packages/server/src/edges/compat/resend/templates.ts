// Templates, by id or alias, and emails that use one.
import { sendBatchBytesMax } from '@callsign/contract/batches'
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  publishTemplate,
  renderTemplate,
  type Template,
  type TemplateItem,
  updateTemplate,
} from '@callsign/contract/templates'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { isObject } from './composition.ts'
import { listPage } from './pages.ts'
import { isGiven, ResendFailure, type ResendRequest, type ResendRoute, textField } from './route.ts'

type Fields = Record<string, unknown>

const templateParams = ({ params }: ResendRequest) => ({ template: params.id as string })

const toItem = ({ id, name, alias, status, published_at, created_at, updated_at }: Static<typeof TemplateItem>) => ({
  id,
  name,
  alias,
  status,
  published_at,
  created_at,
  updated_at,
})

/** Resend has times of each variable, and versions. Ours are those of the template. */
const toTemplate = (template: Static<typeof Template>) => ({
  object: 'template',
  ...toItem(template),
  subject: template.subject,
  html: template.html ?? '',
  text: template.text,
  from: template.from,
  reply_to: template.reply_to.length > 0 ? template.reply_to : null,
  variables: template.variables.map(({ key, type, fallback_value = null }) => ({
    key,
    type,
    fallback_value,
    created_at: template.created_at,
    updated_at: template.updated_at,
  })),
  has_unpublished_versions: template.has_unpublished_changes,
  current_version_id: template.id,
})

const contentNames = ['alias', 'from', 'reply_to', 'subject', 'text', 'html', 'variables'] as const

/** The fields of the content that a body gives. Our API checks them. */
const contentOf = (body: ResendRequest['body']): Fields =>
  Object.fromEntries(contentNames.flatMap((name) => ((body as Fields)[name] === undefined ? [] : [[name, (body as Fields)[name]]])))

const reference = ({ id }: { id: string }) => ({ object: 'template', id })

export const templateRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/templates',
    status: 201,
    run: async ({ body, call }) => reference(await call(createTemplate, { body: { name: textField(body, 'name'), ...contentOf(body) } })),
  },
  {
    method: 'GET',
    path: '/templates',
    run: (request) => listPage(request, (query) => request.call(listTemplates, { query }), toItem),
  },
  {
    method: 'GET',
    path: '/templates/:id',
    run: async (request) => toTemplate(await request.call(getTemplate, { params: templateParams(request) })),
  },
  {
    method: 'PATCH',
    path: '/templates/:id',
    async run(request) {
      const { name } = request.body as Fields
      const change = { ...(isGiven(name) && { name: name as string }), ...contentOf(request.body) }
      return reference(await request.call(updateTemplate, { params: templateParams(request), body: change }))
    },
  },
  {
    method: 'POST',
    path: '/templates/:id/publish',
    run: async (request) => reference(await request.call(publishTemplate, { params: templateParams(request) })),
  },
  {
    method: 'POST',
    path: '/templates/:id/duplicate',
    status: 201,
    async run(request) {
      const { name, from, reply_to, subject, text, html, variables } = await request.call(getTemplate, { params: templateParams(request) })
      const copy = { name: `${name.slice(0, 190)} (copy)`, from, reply_to, subject, text, html, variables }
      return reference(await request.call(createTemplate, { body: copy }))
    },
  },
  {
    method: 'DELETE',
    path: '/templates/:id',
    async run(request) {
      const { id, deleted } = await request.call(deleteTemplate, { params: templateParams(request) })
      return { ...reference({ id }), deleted }
    },
  },
]

/** An email with the content of the template that it names. Its own author, subject and address for replies take precedence. */
export async function withTemplate(call: ApiCall, body: ResendRequest['body']): Promise<Fields> {
  const { template, ...fields } = body as Fields
  if (!isGiven(template)) return fields
  if (!isObject(template) || typeof template.id !== 'string' || template.id === '')
    throw new ResendFailure(422, 'validation_error', 'The `template` field must have an `id`.')
  if (isGiven(fields.html) || isGiven(fields.text))
    throw new ResendFailure(422, 'validation_error', 'An email with a `template` must not have `html` or `text`.')
  const variables = template.variables as Record<string, string | number> | null | undefined
  const content = await call(renderTemplate, { params: { template: template.id }, body: isGiven(variables) ? { variables } : {} } as never)
  const { from, subject, reply_to, text, html } = content as { [name: string]: unknown }
  return {
    ...fields,
    from: fields.from ?? from,
    subject: fields.subject ?? subject,
    reply_to: fields.reply_to ?? reply_to,
    text,
    html,
  }
}

/** The same for the emails of a batch, one after another. Throws 413 as soon as their templates render more than a batch may send. */
export async function withTemplates(call: ApiCall, emails: Fields[]): Promise<Fields[]> {
  const made: Fields[] = []
  let bytes = 0
  for (const email of emails) {
    const whole = await withTemplate(call, email)
    if (whole !== email && isGiven(email.template)) bytes += bytesOf(whole.text) + bytesOf(whole.html)
    if (bytes > sendBatchBytesMax)
      throw new ResendFailure(413, 'validation_error', 'The templates of a batch render at most 16 MB. Send the emails in several batches.')
    made.push(whole)
  }
  return made
}

const bytesOf = (body: unknown): number => (typeof body === 'string' ? Buffer.byteLength(body) : 0)
