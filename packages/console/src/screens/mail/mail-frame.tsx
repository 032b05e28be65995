// The formatted body of a message in a sandboxed frame of its own, without scripts and without the console's origin.
import type { MessageItem } from '@callsign/sdk'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { session } from '../../session/session.ts'
import { mediaPath } from './attachments.tsx'
import { sanitizeMail } from './sanitize-html.ts'
import { choiceOf, keepChoice } from './sender-choices.ts'

type MailFrameProps = {
  message: Pick<MessageItem, 'id' | 'html' | 'attachments'>
  /** False hides the switch for remote images, for mail in quarantine. */
  areImagesOffered?: boolean
  /** The address of a proven sender, for whom the choice about remote images is remembered. */
  sender?: string | null
}

/**
 * A frame with inline content would inherit the page's content security policy, which rejects the styles of mail. So the sanitized HTML is
 * posted to the server, which returns it with a policy that allows styles and nothing else.
 */
export function MailFrame({ message, areImagesOffered = true, sender = null }: MailFrameProps) {
  const [isShownOnce, setShownOnce] = useState(false)
  const [isRemembered, setRemembered] = useState(() => sender !== null && choiceOf(sender).areImagesShown === true)
  useEffect(() => setRemembered(sender !== null && choiceOf(sender).areImagesShown === true), [sender])
  const areImagesShown = areImagesOffered && (isShownOnce || isRemembered)
  const remember = (isOn: boolean) => {
    if (sender !== null) keepChoice(sender, { areImagesShown: isOn })
    setRemembered(isOn)
    setShownOnce(isOn)
  }
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
            {mail.remoteImages} remote {mail.remoteImages === 1 ? 'image' : 'images'} {areImagesShown ? 'shown' : 'blocked for privacy'}
          </span>
          {!areImagesShown && (
            <Button size="small" onClick={() => setShownOnce(true)}>
              Show images
            </Button>
          )}
          {sender !== null && !isRemembered && (
            <Button size="small" kind="quiet" onClick={() => remember(true)}>
              Always from this sender
            </Button>
          )}
          {isRemembered && (
            <Button size="small" onClick={() => remember(false)}>
              Block for this sender
            </Button>
          )}
        </div>
      )}
      <form ref={form} hidden method="post" action="/console/frame" target={name}>
        <input type="hidden" name="html" value={mail.html} />
        <input type="hidden" name="images" value={areImagesShown ? '1' : '0'} />
        <input type="hidden" name="csrf" value={session.value?.csrf ?? ''} />
      </form>
      <iframe
        name={name}
        title="Formatted message"
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        referrerPolicy="no-referrer"
        style={{ height: `clamp(10rem, ${heightOf(message.html)}px, 75dvh)` }}
      />
    </div>
  )
}

const absolute = (path: string | null | undefined): string | null => (path ? location.origin + path : null)

const linePx = 24
const imagePx = 120

/** An estimate of the height of a message. The page cannot measure the frame, which has another origin. A longer message scrolls in it. */
function heightOf(html: string): number {
  const text = html.replace(/<(style|head|title)\b[\s\S]*?<\/\1>/gi, '').replace(/<[^>]*>/g, '')
  const lineCharacters = innerWidth < 760 ? 36 : 80
  const blocks = html.match(/<(p|br|tr|li|h[1-6]|div)\b/gi)?.length ?? 0
  const images = html.match(/<img\b/gi)?.length ?? 0
  return Math.ceil(text.length / lineCharacters + blocks) * linePx + images * imagePx + 2 * linePx
}
