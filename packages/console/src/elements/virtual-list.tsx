// Renders the visible rows of a long list. All rows have the same height.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows rendered above and below the visible ones. */
const overscan = 6
/** The next page is requested when fewer rows than this are left below. */
const loadAhead = 30

type VirtualListProps = {
  /** Name of the list for screen readers. */
  name: string
  count: number
  rowHeight: number
  row: (index: number) => ComponentChildren
  keyOf: (index: number) => string
  /** Scrolled into view when it changes. */
  selected?: number
  onEndReached?: () => void
}

export function VirtualList({ name, count, rowHeight, row, keyOf, selected = -1, onEndReached }: VirtualListProps) {
  const element = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const box = element.current
    if (!box) return
    const measure = () => setView({ top: box.scrollTop, height: box.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(box)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    const box = element.current
    if (!box || selected < 0) return
    const top = selected * rowHeight
    if (top < box.scrollTop) box.scrollTop = top
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
  }, [selected, rowHeight])
  const first = Math.max(0, Math.floor(view.top / rowHeight) - overscan)
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + overscan)
  useEffect(() => {
    if (last + loadAhead >= count) onEndReached?.()
  }, [last, count])
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset)
  return (
    <div
      ref={element}
      class="virtual"
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: the rows are positioned, and their number is known only in part */}
      <div class="spacer" role="list" aria-label={name} style={{ height: `${count * rowHeight}px` }}>
        {rows.map((index) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          <div
            key={keyOf(index)}
            class="virtual-row"
            role="listitem"
            aria-posinset={index + 1}
            aria-setsize={count}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
