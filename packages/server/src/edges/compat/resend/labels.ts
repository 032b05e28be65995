// Labels of an inbox, and the labels of threads with their colors. The id of a label that is not defined is its name.
import {
  createLabel,
  deleteLabel,
  labelColorDefault,
  listLabels,
  type MailboxLabel,
  mailboxLabelsMax,
  updateLabel,
} from '@callsign/contract/labels'
import type { ReplyOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import { optionalText } from './composition.ts'
import { inboxOf } from './inboxes.ts'
import { type ResendRequest, type ResendRoute, textField } from './route.ts'

type OwnLabel = Static<typeof MailboxLabel>

/** The defined labels of an inbox. */
export class DefinedLabels {
  readonly #labels: OwnLabel[]
  constructor(labels: OwnLabel[]) {
    this.#labels = labels
  }

  /** A label as Resend shows it. */
  show(name: string): { id: string; name: string; color: string } {
    const { id, color } = this.#labels.find((label) => label.name === name) ?? { id: name, color: labelColorDefault }
    return { id, name, color }
  }

  /** The name of a label that a request names by its id or name. */
  nameOf(reference: string): string {
    return this.#labels.find(({ id }) => id === reference)?.name ?? reference
  }
}

async function readAll(request: ResendRequest): Promise<OwnLabel[]> {
  const labels: OwnLabel[] = []
  for (let cursor: string | null | undefined; cursor !== null && labels.length < mailboxLabelsMax; ) {
    const query = { limit: 100, ...(cursor !== undefined && { cursor }) }
    const page: ReplyOf<typeof listLabels> = await request.call(listLabels, { params: inboxOf(request), query })
    labels.push(...page.data)
    cursor = page.next_cursor
  }
  return labels
}

export const readLabels = async (request: ResendRequest): Promise<DefinedLabels> => new DefinedLabels(await readAll(request))

const paramsOf = (request: ResendRequest) => ({ ...inboxOf(request), label_id: request.params.label as string })

/** The color in a body. Our API checks it. */
function colorIn({ body }: ResendRequest): { color?: string } {
  const color = optionalText(body as Record<string, unknown>, 'color')
  return color === undefined ? {} : { color }
}

const path = '/inboxes/:inbox/labels'

export const labelRoutes: ResendRoute[] = [
  {
    method: 'GET',
    path,
    async run(request) {
      const labels = await readAll(request)
      return { object: 'list', data: labels.map(({ id, name, color, created_at }) => ({ id, name, color, created_at })) }
    },
  },
  {
    method: 'POST',
    path,
    status: 201,
    async run(request) {
      const body = { name: textField(request.body, 'name'), ...colorIn(request) }
      const { id } = await request.call(createLabel, { params: inboxOf(request), body })
      return { object: 'inbox_label', id }
    },
  },
  {
    method: 'PATCH',
    path: `${path}/:label`,
    async run(request) {
      const name = optionalText(request.body as Record<string, unknown>, 'name')
      const body = { ...(name !== undefined && { name }), ...colorIn(request) }
      const { id } = await request.call(updateLabel, { params: paramsOf(request), body })
      return { object: 'inbox_label', id }
    },
  },
  {
    method: 'DELETE',
    path: `${path}/:label`,
    async run(request) {
      const { id, deleted } = await request.call(deleteLabel, { params: paramsOf(request) })
      return { object: 'inbox_label', id, deleted }
    },
  },
]
