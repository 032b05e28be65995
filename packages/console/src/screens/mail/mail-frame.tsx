// The formatted body of a message in a sandboxed frame of its own, without scripts and without the console's origin.
import type { MessageItem } from '@callsign/sdk'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { session } from '../../session/session.ts'
import { mediaPath } from './attachments.tsx'
import { sanitizeMail } from './sanitize-html.ts'

type MailFrameProps = {
  message: Pick<MessageItem, 'id' | 'html' | 'attachments'>
  /** False hides the switch for remote images, for mail in quarantine. */
  areImagesOffered?: boolean
}

/**
 * A frame with inline content would inherit the page's content security policy, which rejects the styles of mail. So the sanitized HTML is
 * posted to the server, which returns it with a policy that allows styles and nothing else.
 */
export function MailFrame({ message, areImagesOffered = true }: MailFrameProps) {
  const [areImagesShown, setImagesShown] = useState(false)
  const name = `mail-${useId().replace(/\W/g, '')}`
  const form = useRef<HTMLFormElement>(null)
  const images = new Map(
    message.attachments.flatMap((one) => (one.content_id ? [[one.content_id.replace(/^<|>$/g, ''), mediaPath(one.url)]] : [])),
  )
  const mail = sanitizeMail(message.html, { areImagesShown, imageOf: (contentId) => absolute(images.get(contentId)) })
  useEffect(() => form.current?.submit(), [mail.html, areImagesShown])
  return (
    <div class="mail-frame">
      {mail.remoteImages > 0 && areImagesOffered && (
        <div class="mail-frame-bar">
          <span class="grow">
            {mail.remoteImages} remote {mail.remoteImages === 1 ? 'image' : 'images'}{' '}
            {areImagesShown ? 'shown' : 'blocked, so that the sender learns nothing'}
          </span>
          {!areImagesShown && (
            <Button size="small" onClick={() => setImagesShown(true)}>
              Show images
            </Button>
          )}
        </div>
      )}
      <form ref={form} hidden method="post" action="/console/frame" target={name}>
        <input type="hidden" name="html" value={mail.html} />
        <input type="hidden" name="images" value={areImagesShown ? '1' : '0'} />
        <input type="hidden" name="csrf" value={session.value?.csrf ?? ''} />
      </form>
      <iframe name={name} title="Formatted message" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerPolicy="no-referrer" />
    </div>
  )
}

const absolute = (path: string | null | undefined): string | null => (path ? location.origin + path : null)
