// Operations on the labels of mailboxes.
import type * as contract from '@callsign/contract/labels'
import { labelColorDefault, mailboxLabelsMax } from '@callsign/contract/labels'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { clientIdTaken, createOnce } from '../../account/organizations/operations.ts'
import * as store from './store.ts'

type View = ReplyOf<typeof contract.createLabel>

/** Labels of mailboxes with their colors. */
export interface Labels {
  /** `POST …/labels`. */
  createLabel(call: Call, mailbox: string, body: BodyOf<typeof contract.createLabel>): Promise<View>
  /** `GET …/labels`: newest first. */
  listLabels(caller: Caller, mailbox: string, query: QueryOf<typeof contract.listLabels>): Promise<ReplyOf<typeof contract.listLabels>>
  /** `PATCH …/labels/{label_id}`: a new name is also that of the label on messages and threads. */
  updateLabel(call: Call, mailbox: string, id: string, body: BodyOf<typeof contract.updateLabel>): Promise<View>
  /** `DELETE …/labels/{label_id}`: from messages and threads too. */
  deleteLabel(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.deleteLabel>>
}

export function createLabels({ db, identities }: { db: Database; identities: Identities }): Labels {
  async function requireLocked(tx: Tx, mailboxId: string, id: string): Promise<store.LabelRow> {
    const row = await store.lockLabel(tx, mailboxId, id)
    if (!row) throw notFound('label')
    return row
  }

  return {
    async createLabel(call, mailbox, { name, color = labelColorDefault, client_id: clientId }) {
      const { mailboxId, organizationId } = await identities.requireMailbox(call.caller, mailbox)
      const at = now()
      const row = {
        id: newId('label'),
        organization_id: organizationId,
        mailbox_id: mailboxId,
        name,
        color,
        client_id: clientId ?? null,
        created_at: at,
        updated_at: at,
      }
      const create = async (tx: Tx) => {
        if (!(await store.insertLabel(tx, row, mailboxLabelsMax)))
          throw new ApiError('conflict', `A mailbox has at most ${mailboxLabelsMax} labels. Delete one first.`)
        return toLabel(row)
      }
      const find = async (tx: Tx, id: string) => {
        const found = await store.findByClientId(tx, organizationId, id)
        if (found && found.mailbox_id !== mailboxId) throw clientIdTaken()
        return found && toLabel(found)
      }
      return call.transact((tx) => createOnce(tx, { organizationId, kind: 'label', clientId }, find, create)).catch(rethrow)
    },

    async listLabels(caller, mailbox, query) {
      const page = readPage(query, 'label')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      return toPage(await store.listLabels(db.reads, mailboxId, page), page.limit, (row) => row.id, toLabel)
    },

    async updateLabel(call, mailbox, id, { name, color }) {
      const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
      return call
        .transact(async (tx) => {
          const row = await requireLocked(tx, mailboxId, id)
          const changed = { ...row, name: name ?? row.name, color: color ?? row.color, updated_at: now() }
          await store.updateLabel(tx, changed)
          if (changed.name !== row.name) await store.renameOnMail(tx, mailboxId, row.name, changed.name)
          return toLabel(changed)
        })
        .catch(rethrow)
    },

    async deleteLabel(call, mailbox, id) {
      const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const { name } = await requireLocked(tx, mailboxId, id)
        await store.deleteLabel(tx, id)
        await store.renameOnMail(tx, mailboxId, name, null)
        return { id, deleted: true as const }
      })
    },
  }
}

function rethrow(error: unknown): never {
  if (!isUniqueViolation(error, 'labels_once')) throw error
  throw new ApiError('conflict', 'name is the name of another label of this mailbox. Choose another name.')
}

const toLabel = ({ id, mailbox_id, name, color, client_id, created_at, updated_at }: store.LabelRow): View => ({
  id,
  mailbox_id,
  name,
  color,
  client_id,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
})
