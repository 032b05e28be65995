// Two bars per day, for mail received and mail sent. The table below it has the numbers.
import type { UsageSum } from './usage-sums.ts'

const width = 900
const height = 160

export function UsageChart({ days, sums }: { days: string[]; sums: UsageSum[] }) {
  const byDay = new Map(sums.map((sum) => [sum.name, sum.messages]))
  const most = Math.max(1, ...sums.map(({ messages }) => Math.max(messages.received, messages.sent)))
  const step = width / days.length
  const total = (count: 'received' | 'sent') => sums.reduce((sum, { messages }) => sum + messages[count], 0).toLocaleString()
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  return (
    <figure class="usage-chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label="Mail received and sent per day">
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
      <figcaption class="row wrap">
        <span class="legend received">{total('received')} received</span>
        <span class="legend sent">{total('sent')} sent</span>
        <span class="grow" />
        <span class="faint">
          {days[0]} to {days.at(-1)}
        </span>
      </figcaption>
    </figure>
  )
}
