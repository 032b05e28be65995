// Two bars per day, for mail received and mail sent, over labelled axes. The table below it has the numbers.
import type { UsageSum } from './usage-sums.ts'

const width = 900
const height = 160

/** The smallest round number from 1, 2 and 5 times powers of ten that is not below. */
export function roundedUp(count: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, count)))
  return ([1, 2, 5, 10].find((step) => step * power >= count) as number) * power
}

const dayText = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

export function UsageChart({ days, sums }: { days: string[]; sums: UsageSum[] }) {
  const byDay = new Map(sums.map((sum) => [sum.name, sum.messages]))
  const top = roundedUp(Math.max(...sums.map(({ messages }) => Math.max(messages.received, messages.sent))))
  const step = width / days.length
  const total = (count: 'received' | 'sent') => sums.reduce((sum, { messages }) => sum + messages[count], 0).toLocaleString()
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / top) * height))
  const marks = [top, ...(top % 2 === 0 ? [top / 2] : []), 0]
  const labelled = [days[0], days[days.length >> 1], days.at(-1)] as string[]
  return (
    <figure class="usage-chart">
      <span class="usage-axis-title">Messages per day</span>
      <div class="usage-plot">
        <div class="usage-axis" aria-hidden="true">
          {marks.map((mark) => (
            <span key={mark}>{mark.toLocaleString()}</span>
          ))}
        </div>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label="Mail received and sent per day">
          {marks.map((mark) => (
            <line key={mark} x1="0" x2={width} y1={height - (mark / top) * height} y2={height - (mark / top) * height} />
          ))}
          {days.map((day, index) => {
            const { received = 0, sent = 0 } = byDay.get(day) ?? {}
            const bar = step * 0.38
            return (
              <g key={day}>
                <title>{`${day}: ${received} received, ${sent} sent`}</title>
                <rect
                  class="received"
                  x={index * step + step * 0.1}
                  y={height - heightOf(received)}
                  width={bar}
                  height={heightOf(received)}
                />
                <rect class="sent" x={index * step + step * 0.52} y={height - heightOf(sent)} width={bar} height={heightOf(sent)} />
              </g>
            )
          })}
        </svg>
        <div class="usage-days" aria-hidden="true">
          {labelled.map((day) => (
            <span key={day}>{dayText.format(Date.parse(day))}</span>
          ))}
        </div>
      </div>
      <figcaption class="row wrap">
        <span class="legend received">{total('received')} received</span>
        <span class="legend sent">{total('sent')} sent</span>
      </figcaption>
    </figure>
  )
}
