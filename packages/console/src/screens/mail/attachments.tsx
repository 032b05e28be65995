// Attachments with size, type and a preview of images and of the text of files. A PDF also opens in a tab of its own.
import type { AttachmentText, MessageItem } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Notice } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Icon } from '../../elements/icon.tsx'
import { toastError } from '../../elements/toasts.tsx'
import { FlagList } from './flag-list.tsx'

type Attachment = MessageItem['attachments'][number]

/** The new tab has read the file by then. */
const shownMs = 60_000
const textCharactersMax = 200_000
/** Parameters may follow the type. */
const imageTypes = /^image\/(png|jpeg|gif|webp|avif)\s*(;|$)/i
const pdfType = /^application\/pdf\s*(;|$)/i
/** Formats whose text the server extracts. */
const documentTypes =
  /^(application\/(pdf|rtf|vnd\.openxmlformats-officedocument\.(wordprocessingml\.document|spreadsheetml\.sheet))|text\/rtf)\s*(;|$)/i
const textTypes = /^(text\/(plain|csv|markdown|calendar)|application\/(json|xml))\s*(;|$)/i

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

type AttachmentsProps = {
  attachments: Attachment[]
  /** Reads the text of one of these attachments. */
  readText: (id: string) => Promise<AttachmentText>
}

export function Attachments({ attachments, readText }: AttachmentsProps) {
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
            {[imageTypes, textTypes, documentTypes].some((types) => types.test(attachment.content_type)) && (
              <Button size="small" kind="quiet" onClick={() => setOpen(attachment)}>
                Preview
              </Button>
            )}
            <DownloadLink attachment={attachment} />
          </li>
        ))}
      </ul>
      {open && <Preview attachment={open} readText={readText} onClose={() => setOpen(null)} />}
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

type PreviewProps = Pick<AttachmentsProps, 'readText'> & { attachment: Attachment; onClose: () => void }

function Preview({ attachment, readText, onClose }: PreviewProps) {
  const { filename, content_type: type, size_bytes: bytes } = attachment
  const path = mediaPath(attachment.url)
  return (
    <Dialog title={filename} isWide onClose={onClose}>
      {imageTypes.test(type) && path && <img class="attachment-image" src={path} alt={filename} />}
      {textTypes.test(type) && path && <PlainFile path={path} />}
      {documentTypes.test(type) && <DocumentText attachment={attachment} readText={readText} />}
      <p class="faint">
        {type}, {sizeText(bytes)}
      </p>
    </Dialog>
  )
}

function PlainFile({ path }: { path: string }) {
  const [text, setText] = useState('Loading')
  useEffect(() => {
    fetch(path, { credentials: 'omit' })
      .then((response) => response.text())
      .then((content) => setText(content.slice(0, textCharactersMax)))
      .catch(toastError)
  }, [path])
  return <pre class="pre">{text}</pre>
}

/**
 * The text that the server extracts. The browser's own viewer would run the scripts of a PDF, which can open dialogs over the console, and
 * it does not work in a sandboxed frame.
 */
function DocumentText({ attachment, readText }: Omit<PreviewProps, 'onClose'>) {
  const { data, error } = useQuery(`attachment text ${attachment.id}`, () => readText(attachment.id))
  if (error.value) return <Notice tone="warn">{error.value.message}</Notice>
  if (!data.value) return <p>Loading</p>
  const { text, truncated, flags } = data.value
  return (
    <>
      <FlagList flags={flags} />
      <p class="faint">The text of the file, without its layout and pictures{truncated ? '. The file has more text' : ''}.</p>
      {text.trim() === '' ? <p>This file has no text.</p> : <pre class="pre">{text}</pre>}
    </>
  )
}
