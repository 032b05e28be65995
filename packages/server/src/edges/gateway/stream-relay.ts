// Joins two streams into one: bytes, ends and resets of each go to the other, at the pace of the slower.
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'

/** `onOver` runs once, when both are done with each other. */
export function splice(left: TunnelStream, right: TunnelStream, onOver: () => void): void {
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    onOver()
  }
  const [one, other] = [
    { stream: left, held: 0 },
    { stream: right, held: 0 },
  ]
  left.listener = joined(one, other, over)
  right.listener = joined(other, one, over)
}

/** `held`: bytes of the stream that the other side has no room for yet. */
type Side = { stream: TunnelStream; held: number }

function joined(from: Side, to: Side, over: () => void): StreamListener {
  return {
    onData(bytes) {
      if (to.stream.write(bytes)) from.stream.taken(bytes.length)
      else from.held += bytes.length
    },
    onDrain() {
      const bytes = to.held
      to.held = 0
      to.stream.taken(bytes)
    },
    onEnd() {
      to.stream.end()
      if (to.stream.isClosed) over()
    },
    onReset(code) {
      to.stream.reset(code)
      over()
    },
  }
}
