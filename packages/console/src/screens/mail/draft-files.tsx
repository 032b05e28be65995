// The files of a draft in the composer.
import { Button } from '../../elements/button.tsx'
import { Icon } from '../../elements/icon.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { sizeText } from './attachments.tsx'
import type { DraftEditor } from './draft-editor.ts'

/** Reads a file as Base64. */
function readFile(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(new Error(`Reading ${file.name} failed.`))
    reader.readAsDataURL(file)
  })
}

export function DraftFiles({ editor }: { editor: DraftEditor }) {
  const files = editor.draft.value?.attachments ?? []
  const add = async (input: HTMLInputElement) => {
    const chosen = [...(input.files ?? [])]
    input.value = ''
    if (chosen.length === 0) return
    await attempt(async () => {
      const read = chosen.map(async (file) => ({
        filename: file.name,
        content_type: file.type || 'application/octet-stream',
        content: await readFile(file),
      }))
      await editor.addFiles(await Promise.all(read))
    })
  }
  return (
    <div class="draft-files">
      {files.map((file) => (
        <span key={file.id} class="draft-file">
          <Icon name="attachment" />
          <span class="truncate">{file.filename}</span>
          <span class="faint">{sizeText(file.size_bytes)}</span>
          <Button
            kind="quiet"
            size="small"
            icon="close"
            label={`Remove ${file.filename}`}
            onClick={() => void attempt(() => editor.removeFile(file.id))}
          />
        </span>
      ))}
      <label class="button quiet small">
        <Icon name="attachment" />
        Attach files
        <input type="file" multiple class="visually-hidden" onChange={(event) => void add(event.currentTarget)} />
      </label>
    </div>
  )
}
