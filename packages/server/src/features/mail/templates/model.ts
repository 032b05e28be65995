// The template: its row, its views, and the text with the values of its variables.

import type { ReplyOf } from '@callsign/contract/operation'
import { type renderTemplate, type Template, type TemplateItem, templateVariablesMax } from '@callsign/contract/templates'
import type { Static } from 'typebox'
import { ApiError, invalid } from '../../../core/errors.ts'
import { html } from '../../../core/html.ts'

type View = Static<typeof Template>

/** The parts of a template that are published together. */
export type TemplateContent = Pick<View, 'from' | 'reply_to' | 'subject' | 'text' | 'html' | 'variables'>

export type TemplateRow = {
  id: string
  organization_id: string
  name: string
  alias: string | null
  content: TemplateContent
  published: TemplateContent | null
  published_at: Date | null
  /** True when the content differs from the published one. */
  is_changed: boolean
  client_id: string | null
  created_at: Date
  updated_at: Date
}

export const toTemplateItem = (row: Omit<TemplateRow, 'content' | 'published'>): Static<typeof TemplateItem> => ({
  id: row.id,
  name: row.name,
  alias: row.alias,
  status: row.published_at === null ? 'draft' : 'published',
  has_unpublished_changes: row.published_at === null || row.is_changed,
  published_at: row.published_at?.toISOString() ?? null,
  client_id: row.client_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const toTemplate = (row: TemplateRow): View => ({ ...toTemplateItem(row), ...row.content })

/** {{{NAME}}} inserts a value as it is. {{NAME}} escapes it in HTML. */
const placeholder = /\{\{\{ ?([A-Za-z_][A-Za-z0-9_]{0,49}) ?\}\}\}|\{\{ ?([A-Za-z_][A-Za-z0-9_]{0,49}) ?\}\}/g

/** Maximum characters of a rendered text. Otherwise many variables in one template could fill the memory. */
const renderedCharactersMax = 2_000_000

/** Throws 400 for content that could never be sent. */
export function checkContent(content: TemplateContent): void {
  if (!content.text?.trim() && !content.html?.trim()) throw invalid('/html', 'html or text is required')
  const keys = content.variables.map(({ key }) => key)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) throw invalid('/variables', `variables has ${twice} twice`)
  for (const { key, type, fallback_value: fallback } of content.variables)
    if (fallback !== undefined && fallback !== null && typeof fallback !== type)
      throw invalid('/variables', `the fallback_value of ${key} must be a ${type}`)
  if (namesOf(content).size > templateVariablesMax) throw invalid('/variables', `a template has at most ${templateVariablesMax} variables`)
}

/** The declared variables and those that a text uses. */
function namesOf({ subject, text, html: markup, variables }: TemplateContent): Set<string> {
  const used = [subject, text, markup].flatMap((one) => [...(one ?? '').matchAll(placeholder)])
  return new Set([...variables.map(({ key }) => key), ...used.map(([, raw, escaped]) => (raw ?? escaped) as string)])
}

/** The fields of a message. Throws 400 with every value that is missing or has another type. */
export function render(content: TemplateContent, given: Record<string, string | number>): ReplyOf<typeof renderTemplate> {
  const declared = new Map(content.variables.map((variable) => [variable.key, variable]))
  const missing: { path: string; message: string }[] = []
  const values = new Map<string, string>()
  for (const name of namesOf(content)) {
    const variable = declared.get(name)
    const value = (Object.hasOwn(given, name) ? given[name] : null) ?? variable?.fallback_value ?? null
    const path = `/variables/${name}`
    if (value === null) missing.push({ path, message: `is required: ${name} has no fallback_value` })
    else if (variable && typeof value !== variable.type) missing.push({ path, message: `must be a ${variable.type}` })
    else values.set(name, String(value))
  }
  if (missing.length > 0) throw new ApiError('validation_error', `${missing[0]?.path} ${missing[0]?.message}`, { details: missing })
  const fill = (text: string | null, isHtml: boolean): string | null => {
    if (text === null) return null
    let characters = text.length
    return text.replace(placeholder, (_, raw: string | undefined, escaped: string | undefined) => {
      const value = values.get((raw ?? escaped) as string) as string
      const inserted = isHtml && raw === undefined ? html`${value}`.text : value
      characters += inserted.length
      if (characters > renderedCharactersMax) throw invalid('/variables', `a rendered text has at most ${renderedCharactersMax} characters`)
      return inserted
    })
  }
  return {
    from: content.from,
    reply_to: content.reply_to,
    subject: fill(content.subject, false),
    text: fill(content.text, false),
    html: fill(content.html, true),
  }
}
