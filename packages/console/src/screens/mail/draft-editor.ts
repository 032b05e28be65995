// Edits one draft. It saves by itself, keeps its version, and stops at a conflict instead of overwriting another person's change.
import { ApiError, type Draft } from '@callsign/sdk'
import { computed, signal } from '@preact/signals'
import { invalidate } from '../../cache/query.ts'
import { client } from '../../session/client.ts'
import { splitAddresses } from './addresses.ts'
import type { Composing } from './composer-state.ts'

export type DraftFields = { to: string; cc: string; bcc: string; subject: string; text: string }
export type SaveState = 'unchanged' | 'saving' | 'saved' | 'conflict' | 'failed'
export type DraftEditor = ReturnType<typeof createDraftEditor>

const saveAfterMs = 700
const emptyFields: DraftFields = { to: '', cc: '', bcc: '', subject: '', text: '' }

export function fieldsOf(draft: Draft): DraftFields {
  return {
    to: draft.to.join(', '),
    cc: draft.cc.join(', '),
    bcc: draft.bcc.join(', '),
    subject: draft.subject ?? '',
    text: draft.text ?? '',
  }
}

/** Only the fields that differ, in the form of the API. Changed text removes a formatted version that would contradict it. */
function bodyOf(fields: DraftFields, saved: Draft | null): Record<string, unknown> {
  const before = saved ? fieldsOf(saved) : emptyFields
  const body: Record<string, unknown> = {}
  for (const name of ['to', 'cc', 'bcc'] as const) if (fields[name] !== before[name]) body[name] = splitAddresses(fields[name])
  if (fields.subject !== before.subject) body.subject = fields.subject
  if (fields.text !== before.text) {
    body.text = fields.text
    if (saved?.html) body.html = null
  }
  return body
}

export function createDraftEditor(composing: Composing) {
  const mailbox = signal(composing.mailbox)
  const draft = signal<Draft | null>(null)
  const fields = signal<DraftFields>(emptyFields)
  const state = signal<SaveState>('unchanged')
  const error = signal<Error | null>(null)
  /** The other person's version, while both exist. */
  const theirs = signal<Draft | null>(null)
  const isReady = signal(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> = Promise.resolve()
  let isTouched = false

  const adopt = (next: Draft) => {
    draft.value = next
    fields.value = fieldsOf(next)
  }

  async function open(): Promise<void> {
    if (composing.kind === 'draft') adopt(await client.drafts.get(composing.mailbox, composing.draftId))
    else if (composing.kind === 'reply') {
      adopt(await client.drafts.create(composing.mailbox, { in_reply_to: composing.messageId, reply_all: composing.isToAll }))
    } else if (composing.kind === 'forward') {
      adopt(await client.drafts.create(composing.mailbox, { forward_of: composing.messageId, forward_attachments: true }))
    }
    isReady.value = true
  }

  async function save(): Promise<void> {
    clearTimeout(timer)
    const current = draft.peek()
    const body = bodyOf(fields.peek(), current)
    if (Object.keys(body).length === 0 || state.peek() === 'conflict') return
    state.value = 'saving'
    try {
      draft.value = current
        ? await client.drafts.update(mailbox.peek(), current.id, { ...body, version: current.version })
        : await client.drafts.create(mailbox.peek(), body)
      error.value = null
      state.value = Object.keys(bodyOf(fields.peek(), draft.peek())).length === 0 ? 'saved' : 'unchanged'
      invalidate('drafts', `draft ${draft.value.id}`)
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
    isEmpty: computed(() => Object.values(fields.value).every((value) => value.trim() === '')),
    open,
    flush,
    set(change: Partial<DraftFields>) {
      isTouched = true
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
      state.value = 'saved'
      if (!isTheirs) void flush()
    },
    async addFiles(files: { filename: string; content_type: string; content: string }[]) {
      await flush()
      const current = draft.peek()
      draft.value = current
        ? await client.drafts.attachments.add(mailbox.peek(), current.id, files, { version: current.version })
        : await client.drafts.create(mailbox.peek(), { attachments: files })
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
      const current = draft.peek()
      if (!current) throw new Error('Write a recipient and a text first.')
      const sent = await client.drafts.send(mailbox.peek(), current.id, { version: current.version })
      invalidate('drafts', 'thread', 'overview')
      return sent
    },
    /** Keeps the typed text. A reply that was opened and not changed is deleted again. */
    async close() {
      clearTimeout(timer)
      const current = draft.peek()
      if (isTouched || composing.kind === 'draft') return flush()
      if (current) await client.drafts.delete(mailbox.peek(), current.id)
    },
    async discard() {
      clearTimeout(timer)
      await running
      const current = draft.peek()
      if (current) await client.drafts.delete(mailbox.peek(), current.id)
      invalidate('drafts', 'overview')
    },
  }
}
