// Search highlights. The server marks matches in escaped HTML, which becomes text and <mark> elements here.
import type { ComponentChildren } from 'preact'

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x27;': "'", '&amp;': '&' }

const unescapeHtml = (text: string): string => text.replace(/&(?:lt|gt|quot|#39|#x27|amp);/g, (entity) => entities[entity] as string)

/** Splits `a <mark>b</mark> c` at its marks. Nothing is parsed as HTML. */
export function splitMarks(html: string): { text: string; isMarked: boolean }[] {
  return html
    .split(/<mark>(.*?)<\/mark>/s)
    .map((part, index) => ({ text: unescapeHtml(part), isMarked: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}

export function Highlight({ html, children }: { html: string | null | undefined; children: ComponentChildren }) {
  if (!html) return <>{children}</>
  return (
    <>
      {splitMarks(html).map(({ text, isMarked }, index) => {
        const key = `${index}-${text}`
        return isMarked ? <mark key={key}>{text}</mark> : <span key={key}>{text}</span>
      })}
    </>
  )
}
