// The text of a message. Web addresses become links that show where they lead.
import type { ComponentChildren } from 'preact'

const addressPattern = /\bhttps?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?]/gi

/** Splits text at web addresses. */
export function splitLinks(text: string): { text: string; href: string | null }[] {
  const parts: { text: string; href: string | null }[] = []
  let end = 0
  for (const match of text.matchAll(addressPattern)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), href: null })
    parts.push({ text: match[0], href: URL.canParse(match[0]) ? match[0] : null })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), href: null })
  return parts
}

type MailTextProps = { text: string; isLinked?: boolean }

export function MailText({ text, isLinked = true }: MailTextProps): ComponentChildren {
  if (text.trim() === '') return <p class="mail-text faint">This message has no text.</p>
  if (!isLinked) return <div class="mail-text">{text}</div>
  return (
    <div class="mail-text">
      {splitLinks(text).map((part, index) =>
        part.href ? (
          <a key={`${index}-${part.href}`} href={part.href} target="_blank" rel="noopener noreferrer nofollow">
            {part.text}
          </a>
        ) : (
          part.text
        ),
      )}
    </div>
  )
}
