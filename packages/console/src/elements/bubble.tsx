// One message of a conversation. Messages of the agent are on the right.
import type { ComponentChildren } from 'preact'
import { Time } from './time.tsx'

type BubbleProps = { side: 'left' | 'right'; at: string; note?: ComponentChildren; children: ComponentChildren }

export function Bubble({ side, at, note, children }: BubbleProps) {
  return (
    <div class={`bubble ${side}`}>
      <div class="bubble-text">{children}</div>
      <span class="faint">
        <Time at={at} />
        {note && <>, {note}</>}
      </span>
    </div>
  )
}
