// Operations on templates. Content is changed and published in two steps, and only published content is rendered.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/templates'
import { templatesMax } from '@callsign/contract/templates'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Tx } from '../../../core/sql.ts'
import { type Accounts, actorOf, createOnce } from '../../account/organizations/operations.ts'
import { checkContent, render, type TemplateContent, type TemplateRow, toTemplate, toTemplateItem } from './model.ts'
import * as store from './store.ts'

type View = ReplyOf<typeof contract.getTemplate>
type ContentBody = Omit<BodyOf<typeof contract.updateTemplate>, 'name'>

/** Templates of an organization. `name` is the id or the alias. */
export interface Templates {
  /** `POST /templates`. */
  createTemplate(call: Call, body: BodyOf<typeof contract.createTemplate>): Promise<View>
  /** `GET /templates`: newest first. */
  listTemplates(caller: Caller, query: QueryOf<typeof contract.listTemplates>): Promise<ReplyOf<typeof contract.listTemplates>>
  /** `GET /templates/{template}`. */
  getTemplate(caller: Caller, name: string): Promise<View>
  /** `PATCH /templates/{template}`. */
  updateTemplate(call: Call, name: string, body: BodyOf<typeof contract.updateTemplate>): Promise<View>
  /** `POST /templates/{template}/publish`. */
  publishTemplate(call: Call, name: string): Promise<View>
  /** `POST /templates/{template}/render`: throws 409 for a template that was never published. */
  renderTemplate(
    caller: Caller,
    name: string,
    body?: BodyOf<typeof contract.renderTemplate>,
  ): Promise<ReplyOf<typeof contract.renderTemplate>>
  /** `DELETE /templates/{template}`. */
  deleteTemplate(call: Call, name: string): Promise<ReplyOf<typeof contract.deleteTemplate>>
}

const empty: TemplateContent = { from: null, reply_to: [], subject: null, text: null, html: null, variables: [] }

function contentAfter(before: TemplateContent, body: ContentBody): TemplateContent {
  const given = <K extends 'from' | 'subject' | 'text' | 'html'>(key: K) => (body[key] === undefined ? before[key] : body[key])
  const content = {
    from: given('from'),
    subject: given('subject'),
    text: given('text'),
    html: given('html'),
    reply_to: body.reply_to === undefined ? before.reply_to : body.reply_to === null ? [] : [body.reply_to].flat(),
    variables: body.variables ?? before.variables,
  }
  checkContent(content)
  return content
}

export function createTemplates({ db, accounts }: { db: Database; accounts: Accounts }): Templates {
  const isTaken = (error: unknown): unknown => {
    if (!isUniqueViolation(error, 'templates_alias')) return error
    return new ApiError('conflict', 'alias is the alias of another template. Choose another alias.')
  }

  async function change(
    call: Call,
    name: string,
    apply: (row: TemplateRow) => TemplateRow,
    action: 'updated' | 'published',
  ): Promise<View> {
    const { organizationId } = call.caller
    return call
      .transact(async (tx) => {
        const row = await requireLocked(tx, organizationId, name)
        const changed = await store.updateTemplate(tx, apply(row))
        await accounts.audit(tx, organizationId, actorOf(call), `template.${action}`, row.id, { name: changed.name })
        return toTemplate(changed)
      })
      .catch((error: unknown) => {
        throw isTaken(error)
      })
  }

  async function requireLocked(tx: Tx, organizationId: string, name: string): Promise<TemplateRow> {
    const row = await store.lockTemplate(tx, organizationId, name)
    if (!row) throw notFound('template')
    return row
  }

  async function requireTemplate(caller: Caller, name: string): Promise<TemplateRow> {
    const row = await store.findTemplate(db, caller.organizationId, name)
    if (!row) throw notFound('template')
    return row
  }

  return {
    async createTemplate(call, { name, client_id: clientId, ...body }) {
      const { organizationId } = call.caller
      const at = now()
      const row: TemplateRow = {
        id: newId('template'),
        organization_id: organizationId,
        name,
        alias: body.alias ?? null,
        content: contentAfter(empty, body),
        published: null,
        published_at: null,
        is_changed: true,
        client_id: clientId ?? null,
        created_at: at,
        updated_at: at,
      }
      const create = async (tx: Tx) => {
        if (!(await store.insertTemplate(tx, row, templatesMax)))
          throw new ApiError('conflict', `An organization has at most ${templatesMax} templates. Delete one first.`)
        await accounts.audit(tx, organizationId, actorOf(call), 'template.created', row.id, { name })
        return toTemplate(row)
      }
      const find = async (tx: Tx, id: string) => {
        const found = await store.findByClientId(tx, organizationId, id)
        return found && toTemplate(found)
      }
      return call
        .transact((tx) => createOnce(tx, { organizationId, kind: 'template', clientId }, find, create))
        .catch((error: unknown) => {
          throw isTaken(error)
        })
    },

    async listTemplates(caller, query) {
      const page = readPage(query, 'template')
      return toPage(await store.listTemplates(db.reads, caller.organizationId, page), page.limit, (row) => row.id, toTemplateItem)
    },

    getTemplate: async (caller, name) => toTemplate(await requireTemplate(caller, name)),

    updateTemplate: (call, name, { name: title, ...body }) =>
      change(
        call,
        name,
        (row) => ({
          ...row,
          name: title ?? row.name,
          alias: body.alias === undefined ? row.alias : body.alias,
          content: contentAfter(row.content, body),
          updated_at: now(),
        }),
        'updated',
      ),

    publishTemplate: (call, name) => change(call, name, (row) => ({ ...row, published: row.content, published_at: now() }), 'published'),

    async renderTemplate(caller, name, { variables = {} } = {}) {
      const { published } = await requireTemplate(caller, name)
      if (published === null) throw new ApiError('conflict', 'This template was never published. Publish it before you use it.')
      return render(published, variables)
    },

    async deleteTemplate(call, name) {
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        const row = await requireLocked(tx, organizationId, name)
        await store.deleteTemplate(tx, row.id)
        await accounts.audit(tx, organizationId, actorOf(call), 'template.deleted', row.id, { name: row.name })
        return { id: row.id, deleted: true as const }
      })
    },
  }
}
