// Relays two streams to each other: bytes, ends and resets, with backpressure.
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'

/** `onOver` is called once, when both streams have ended. */
export function relayStreams(left: TunnelStream, right: TunnelStream, onOver: () => void): void {
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

/** `held` counts the bytes that the other stream has no room for yet. */
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
