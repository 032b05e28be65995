// Edits one draft. It is stored with the first change, saves by itself, keeps its version, and stops at a conflict instead of overwriting another person's change.
import { ApiError, type Draft } from '@callsign/sdk'
import { signal } from '@preact/signals'
import { refreshLists } from '../../cache/pages.ts'
import { invalidate } from '../../cache/query.ts'
import { client } from '../../session/client.ts'
import { splitAddresses } from './addresses.ts'
import type { Composing } from './composer-state.ts'
import { type DraftFields, emptyFields, firstFields } from './first-fields.ts'

export type SaveState = 'unchanged' | 'saving' | 'saved' | 'conflict' | 'failed'
export type DraftEditor = ReturnType<typeof createDraftEditor>

const saveAfterMs = 700
const fieldNames = Object.keys(emptyFields) as (keyof DraftFields)[]

function fieldsOf(draft: Draft): DraftFields {
  return {
    to: draft.to.join(', '),
    cc: draft.cc.join(', '),
    bcc: draft.bcc.join(', '),
    subject: draft.subject ?? '',
    text: draft.text ?? '',
  }
}

/** The message that a new draft answers or forwards. */
function originOf(composing: Composing): Record<string, unknown> {
  if (composing.kind === 'reply') return { in_reply_to: composing.message.id, reply_all: composing.isToAll }
  return composing.kind === 'forward' ? { forward_of: composing.message.id, forward_attachments: true } : {}
}

/** Only the fields that differ, in the form of the API. Changed text removes a formatted version that would contradict it. */
function bodyOf(fields: DraftFields, before: DraftFields, saved: Draft | null): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const name of ['to', 'cc', 'bcc'] as const) if (fields[name] !== before[name]) body[name] = splitAddresses(fields[name])
  if (fields.subject !== before.subject) body.subject = fields.subject
  if (fields.text !== before.text) {
    body.text = fields.text
    if (saved?.html) body.html = null
  }
  return body
}

/** Everything that shows drafts loads them again. */
export function invalidateDrafts(): void {
  invalidate('draft', 'folders')
  refreshLists('draft')
}

export function createDraftEditor(composing: Composing) {
  const mailbox = signal(composing.mailbox)
  const draft = signal<Draft | null>(null)
  const first = firstFields(composing)
  const fields = signal<DraftFields>(first)
  const state = signal<SaveState>('unchanged')
  const error = signal<Error | null>(null)
  /** The other person's version, while both exist. */
  const theirs = signal<Draft | null>(null)
  const isReady = signal(composing.kind !== 'draft')
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> = Promise.resolve()
  let isEnded = false

  async function open(): Promise<void> {
    if (composing.kind !== 'draft') return
    const found = await client.drafts.get(composing.mailbox, composing.draftId)
    draft.value = found
    fields.value = fieldsOf(found)
    isReady.value = true
  }

  const changes = (saved: Draft | null) => bodyOf(fields.peek(), saved ? fieldsOf(saved) : first, saved)

  /** Stores the draft, and shows the recipients and the subject of the server in the fields that were not changed. */
  async function create(body: Record<string, unknown>): Promise<Draft> {
    const created = await client.drafts.create(mailbox.peek(), { ...originOf(composing), ...body })
    const stored = fieldsOf(created)
    const now = fields.peek()
    fields.value = Object.fromEntries(fieldNames.map((name) => [name, now[name] === first[name] ? stored[name] : now[name]])) as DraftFields
    return created
  }

  async function save(): Promise<void> {
    clearTimeout(timer)
    const current = draft.peek()
    const body = changes(current)
    if (isEnded || Object.keys(body).length === 0 || state.peek() === 'conflict') return
    state.value = 'saving'
    try {
      draft.value = current
        ? await client.drafts.update(mailbox.peek(), current.id, { ...body, version: current.version })
        : await create(body)
      error.value = null
      state.value = Object.keys(changes(draft.peek())).length === 0 ? 'saved' : 'unchanged'
      invalidateDrafts()
    } catch (reason) {
      await onSaveError(reason, current)
    }
  }

  async function onSaveError(reason: unknown, current: Draft | null): Promise<void> {
    if (current && reason instanceof ApiError && reason.code === 'draft_version_conflict') {
      theirs.value = await client.drafts.get(mailbox.peek(), current.id).catch(() => null)
      state.value = 'conflict'
      return
    }
    error.value = reason instanceof Error ? reason : new Error(String(reason))
    state.value = 'failed'
  }

  async function remove(current: Draft): Promise<void> {
    isEnded = true
    await client.drafts.delete(mailbox.peek(), current.id)
    invalidate('overview')
    invalidateDrafts()
  }

  /** Saves run one after the other, so that each knows the version of the one before. */
  const flush = (): Promise<void> => {
    running = running.then(save)
    return running
  }

  return {
    mailbox,
    draft,
    fields,
    state,
    error,
    theirs,
    isReady,
    open,
    flush,
    set(change: Partial<DraftFields>) {
      fields.value = { ...fields.peek(), ...change }
      clearTimeout(timer)
      timer = setTimeout(() => void flush(), saveAfterMs)
    },
    /** Ends a conflict with the other person's version, or with this one on top of it. */
    resolve(isTheirs: boolean) {
      const other = theirs.peek()
      if (!other) return
      if (isTheirs) fields.value = fieldsOf(other)
      draft.value = other
      theirs.value = null
      error.value = null
      state.value = 'saved'
      if (!isTheirs) void flush()
    },
    async addFiles(files: { filename: string; content_type: string; content: string }[]) {
      await flush()
      const current = draft.peek()
      draft.value = current
        ? await client.drafts.attachments.add(mailbox.peek(), current.id, files, { version: current.version })
        : await create({ attachments: files })
      invalidateDrafts()
    },
    async removeFile(id: string) {
      await flush()
      const current = draft.peek()
      if (current) draft.value = await client.drafts.attachments.remove(mailbox.peek(), current.id, [id], { version: current.version })
    },
    async send() {
      await flush()
      if (state.peek() === 'conflict') throw new Error('Decide first which version to keep.')
      if (error.peek() && state.peek() === 'failed') throw error.peek()
      error.value = null
      const current = draft.peek()
      if (!current) throw new Error('Write a recipient and a text first.')
      const sent = await client.drafts.send(mailbox.peek(), current.id, { version: current.version })
      isEnded = true
      invalidate('thread', 'overview')
      invalidateDrafts()
      return sent
    },
    /** Keeps what was typed. A draft of an answer or a new message from which everything was removed again is deleted. */
    async close() {
      if (isEnded) return
      await flush()
      const current = draft.peek()
      const isUntouched = fieldNames.every((name) => fields.peek()[name].trim() === (name === 'text' ? '' : first[name]))
      if (current && composing.kind !== 'draft' && isUntouched && current.attachments.length === 0) await remove(current)
    },
    async discard() {
      isEnded = true
      clearTimeout(timer)
      await running
      const current = draft.peek()
      if (current) await remove(current)
    },
  }
}
