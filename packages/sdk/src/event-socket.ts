// Reads events from a WebSocket, the one that browsers and current runtimes have.
import type { listEvents, StreamCursor } from '@callsign/contract/events'
import type { ReplyOf } from '@callsign/contract/operation'
import { ConnectionError } from './errors.ts'

type CallsignEvent = ReplyOf<typeof listEvents>['data'][number]

/** An event, or a starting point alone. `lost` is the last event of this reader if the server does not have it any more. */
export type Block = { id: string; event: CallsignEvent | null; lost?: string | undefined }

/** Reads a message of a stream. */
export function readBlock(text: string): Block {
  const message = JSON.parse(text) as CallsignEvent | StreamCursor
  return 'cursor' in message ? { id: message.cursor, event: null, lost: message.lost } : { id: message.id, event: message }
}

/** A connection without a message is replaced after this time, because a lost one is not noticed. */
const silenceMsMax = 5 * 60_000
/** Messages that may wait for the caller. A socket with more is closed, and the next one continues after the last message taken. */
const waitingMax = 1000

/** Yields the blocks of one socket until it ends. `options` are those of `socketOptions`. Throws if it cannot be opened. */
export async function* readSocket(
  address: string,
  token: string,
  options: { dispatcher?: object },
  signal: AbortSignal | undefined,
): AsyncGenerator<Block> {
  const protocols = ['callsign.events', `bearer.${token}`]
  // Only Node gets a dispatcher, and takes an object in place of the protocols.
  const socket = new WebSocket(address, options.dispatcher ? ({ ...options, protocols } as unknown as string[]) : protocols)
  const waiting: Block[] = []
  let [isOpened, isEnded] = [false, false]
  let wake = () => {}
  const end = () => {
    isEnded = true
    socket.close()
    wake()
  }
  let timer = setTimeout(end, silenceMsMax)
  socket.onopen = () => {
    isOpened = true
  }
  socket.onmessage = ({ data }) => {
    if (isEnded) return
    clearTimeout(timer)
    timer = setTimeout(end, silenceMsMax)
    waiting.push(readBlock(String(data)))
    if (waiting.length >= waitingMax) end()
    wake()
  }
  socket.onerror = end
  socket.onclose = end
  signal?.addEventListener('abort', end, { once: true })
  try {
    for (;;) {
      const block = waiting.shift()
      if (block) yield block
      else if (isEnded) break
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    if (!isOpened && !signal?.aborted) throw new ConnectionError('connection_failed', 'The WebSocket of events could not be opened.')
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    end()
  }
}
