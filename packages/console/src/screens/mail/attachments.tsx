// Attachments with size, type and a preview of images and text. A PDF opens in a tab of its own.
import type { MessageItem } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Icon } from '../../elements/icon.tsx'
import { toastError } from '../../elements/toasts.tsx'

type Attachment = MessageItem['attachments'][number]

/** The new tab has read the file by then. */
const shownMs = 60_000
const textCharactersMax = 200_000
const imageTypes = /^image\/(png|jpeg|gif|webp|avif)$/i
const pdfType = /^application\/pdf$/i
const textTypes = /^(text\/(plain|csv|markdown|calendar)|application\/(json|xml))$/i

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** The path of a signed link on this server. The console may be open under another name than the public address. */
export function mediaPath(url: string | null): string | null {
  if (!url || !URL.canParse(url)) return null
  const { pathname, search } = new URL(url)
  return pathname.startsWith('/media/') ? pathname + search : null
}

export function Attachments({ attachments }: { attachments: Attachment[] }) {
  const [open, setOpen] = useState<Attachment | null>(null)
  if (attachments.length === 0) return null
  return (
    <>
      <ul class="attachments" aria-label="Attachments">
        {attachments.map((attachment) => (
          <li key={attachment.id}>
            <Icon name={imageTypes.test(attachment.content_type) ? 'image' : 'attachment'} />
            <span class="grow truncate" title={attachment.filename}>
              {attachment.filename}
            </span>
            <span class="faint">{sizeText(attachment.size_bytes)}</span>
            {pdfType.test(attachment.content_type) && (
              <Button size="small" kind="quiet" onClick={() => void openPdf(attachment).catch(toastError)}>
                Open
              </Button>
            )}
            {(imageTypes.test(attachment.content_type) || textTypes.test(attachment.content_type)) && (
              <Button size="small" kind="quiet" onClick={() => setOpen(attachment)}>
                Preview
              </Button>
            )}
            <DownloadLink attachment={attachment} />
          </li>
        ))}
      </ul>
      {open && <Preview attachment={open} onClose={() => setOpen(null)} />}
    </>
  )
}

function DownloadLink({ attachment }: { attachment: Attachment }) {
  const path = mediaPath(attachment.url)
  if (!path) return null
  return (
    <ButtonLink
      size="small"
      kind="quiet"
      icon="download"
      label={`Download ${attachment.filename}`}
      href={path}
      download={attachment.filename}
    />
  )
}

/**
 * Opens a PDF in the browser's own viewer, which runs it apart from the page. The type is set here, so that the browser never reads the
 * file as a page, and the new tab does not know the console.
 */
async function openPdf(attachment: Attachment): Promise<void> {
  const path = mediaPath(attachment.url)
  const response = path === null ? null : await fetch(path, { credentials: 'omit' })
  if (!response?.ok) throw new Error(`${attachment.filename} could not be loaded. Reload the message and try again.`)
  const url = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: 'application/pdf' }))
  open(url, '_blank', 'noopener')
  setTimeout(() => URL.revokeObjectURL(url), shownMs)
}

function Preview({ attachment, onClose }: { attachment: Attachment; onClose: () => void }) {
  const path = mediaPath(attachment.url)
  const [text, setText] = useState<string | null>(null)
  const isImage = imageTypes.test(attachment.content_type)
  if (!isImage && text === null && path) {
    fetch(path, { credentials: 'omit' })
      .then((response) => response.text())
      .then((content) => setText(content.slice(0, textCharactersMax)))
      .catch(toastError)
  }
  return (
    <Dialog title={attachment.filename} isWide onClose={onClose}>
      {isImage && path ? <img class="attachment-image" src={path} alt={attachment.filename} /> : <pre class="pre">{text ?? 'Loading'}</pre>}
      <p class="faint">
        {attachment.content_type}, {sizeText(attachment.size_bytes)}
      </p>
    </Dialog>
  )
}
