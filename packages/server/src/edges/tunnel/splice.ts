// Joins two streams into one: bytes, ends and resets of each go to the other, at the pace of the slower.
import type { TunnelStream } from '@callsign/contract/tunnel-stream'

/** `onOver` runs once, when both are done with each other. */
export function splice(left: TunnelStream, right: TunnelStream, onOver: () => void): void {
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    onOver()
  }
  join(left, right, over)
  join(right, left, over)
}

function join(from: TunnelStream, to: TunnelStream, over: () => void): void {
  let held = 0
  from.onData = (bytes) => {
    if (to.write(bytes)) from.taken(bytes.length)
    else held += bytes.length
  }
  to.onDrain = () => {
    const bytes = held
    held = 0
    from.taken(bytes)
  }
  from.onEnd = () => {
    to.end()
    if (to.isClosed) over()
  }
  from.onReset = (code) => {
    to.reset(code)
    over()
  }
}
