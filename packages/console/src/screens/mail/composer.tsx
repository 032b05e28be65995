// Writes new messages, replies, forwards and drafts. Opens over every screen.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Select, TextArea, TextField } from '../../elements/fields.tsx'
import { FieldErrors } from '../../elements/form.tsx'
import { attempt, toast, toastError } from '../../elements/toasts.tsx'
import { role } from '../../session/session.ts'
import { type Composing, closeComposer } from './composer-state.ts'
import { createDraftEditor, type DraftEditor } from './draft-editor.ts'
import { DraftFiles } from './draft-files.tsx'
import { useIdentities } from './mailboxes.ts'

const titles: Record<Composing['kind'], string> = { new: 'New message', reply: 'Reply', forward: 'Forward', draft: 'Draft' }
const saveTexts = { unchanged: '', saving: 'Saving', saved: 'Saved as a draft', conflict: 'Changed elsewhere', failed: 'Not saved' }

export default function Composer({ composing }: { composing: Composing }) {
  const editor = useMemo(() => createDraftEditor(composing), [composing])
  const [error, setError] = useState<Error | null>(null)
  const open = () => {
    setError(null)
    editor.open().catch(setError)
  }
  useEffect(() => {
    open()
    return () => void editor.close().catch(toastError)
  }, [editor])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('dialog[open]')) closeComposer()
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && editor.isReady.peek()) void send(editor)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [editor])
  return (
    <section class="composer" aria-label={titles[composing.kind]}>
      <header>
        <h2 class="grow">{titles[composing.kind]}</h2>
        <span class="faint" role="status">
          {saveTexts[editor.state.value]}
        </span>
        <Button kind="quiet" size="small" icon="close" label="Close and keep the draft" onClick={closeComposer} />
      </header>
      {error ? (
        <Failure error={error} onRetry={open} />
      ) : editor.isReady.value ? (
        <ComposerForm editor={editor} kind={composing.kind} />
      ) : (
        <Loading lines={4} />
      )}
    </section>
  )
}

/** The form shows the error of a draft that was not sent. */
async function send(editor: DraftEditor): Promise<void> {
  try {
    await editor.send()
  } catch (error) {
    editor.error.value = error instanceof Error ? error : new Error(String(error))
    return
  }
  toast({ text: `Sent from ${editor.mailbox.peek()}` })
  closeComposer()
}

function ComposerForm({ editor, kind }: { editor: DraftEditor; kind: Composing['kind'] }) {
  const fields = editor.fields.value
  const [areCopiesWanted, setCopiesWanted] = useState(false)
  const areCopiesShown = areCopiesWanted || fields.cc !== '' || fields.bcc !== ''
  const submit = (event: Event) => {
    event.preventDefault()
    void send(editor)
  }
  return (
    <form class="composer-form" onSubmit={submit}>
      <FieldErrors error={editor.error.value}>
        <Conflict editor={editor} />
        {kind === 'new' && <From editor={editor} />}
        <div class="row composer-to">
          <div class="grow">
            <TextField
              label="To"
              path="/to"
              value={fields.to}
              onInput={(to) => editor.set({ to })}
              autoFocus={kind === 'new' || kind === 'forward'}
            />
          </div>
          {!areCopiesShown && (
            <Button kind="quiet" size="small" onClick={() => setCopiesWanted(true)}>
              Cc, Bcc
            </Button>
          )}
        </div>
        {areCopiesShown && (
          <>
            <TextField label="Cc" path="/cc" value={fields.cc} onInput={(cc) => editor.set({ cc })} />
            <TextField label="Bcc" path="/bcc" value={fields.bcc} onInput={(bcc) => editor.set({ bcc })} />
          </>
        )}
        <TextField label="Subject" path="/subject" value={fields.subject} onInput={(subject) => editor.set({ subject })} />
        <TextArea
          label="Text"
          path="/text"
          rows={10}
          value={fields.text}
          onInput={(text) => editor.set({ text })}
          autoFocus={kind === 'reply' || kind === 'draft'}
        />
        {editor.draft.value?.html && <Notice>This draft has a formatted version. It is removed when you change the text.</Notice>}
        <DraftFiles editor={editor} />
      </FieldErrors>
      <ComposerFooter editor={editor} />
    </form>
  )
}

function From({ editor }: { editor: DraftEditor }) {
  const identities = useIdentities().data.value ?? []
  const first = identities[0]?.agent_handle ?? ''
  useEffect(() => {
    if (editor.mailbox.value === '' && first) editor.mailbox.value = first
  }, [first])
  return (
    <Select
      label="From"
      value={editor.mailbox.value}
      options={identities.map((one) => ({ value: one.agent_handle, label: one.mailbox_address }))}
      onChange={(handle) => {
        if (editor.draft.peek())
          toast({ text: 'The draft is already stored in the first mailbox. Discard it to change the sender.', tone: 'bad' })
        else editor.mailbox.value = handle
      }}
    />
  )
}

function Conflict({ editor }: { editor: DraftEditor }) {
  const theirs = editor.theirs.value
  if (editor.state.value !== 'conflict') return null
  return (
    <Notice tone="warn">
      <p>
        {theirs
          ? `This draft was changed elsewhere and is now version ${theirs.version}. Your changes are not saved.`
          : 'This draft was sent or deleted elsewhere. Copy your text before you close it.'}
      </p>
      {theirs && (
        <>
          <blockquote class="pre">{theirs.text || 'The other version has no text.'}</blockquote>
          <div class="row">
            <Button size="small" onClick={() => editor.resolve(true)}>
              Take the other version
            </Button>
            <Button size="small" onClick={() => editor.resolve(false)}>
              Keep mine
            </Button>
          </div>
        </>
      )}
    </Notice>
  )
}

function ComposerFooter({ editor }: { editor: DraftEditor }) {
  const discard = async () => {
    closeComposer()
    await attempt(() => editor.discard(), 'Draft discarded')
  }
  return (
    <footer>
      <Button kind="quiet" icon="trash" label="Discard the draft" onClick={() => void discard()} />
      <span class="grow faint">{role.value === 'agent' ? 'Sent as this agent' : 'Sent in the name of the agent'}</span>
      <Button kind="primary" type="submit" icon="sent" disabled={editor.fields.value.to.trim() === '' || editor.state.value === 'conflict'}>
        Send
      </Button>
    </footer>
  )
}
