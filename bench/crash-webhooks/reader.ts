// Reads the event stream through every kill. It reconnects and resumes after the last event that it has.
import { setTimeout as delay } from 'node:timers/promises'

export type Reader = { ids: string[]; connections: () => number; stop: () => Promise<void> }

/** Follows the events of these types until it is stopped. */
export function startReader(options: { port: number; apiKey: string; after: string; types: string }): Reader {
  const ids: string[] = []
  const controller = new AbortController()
  let connections = 0

  async function connect(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${options.port}/api/v1/events/stream?types=${options.types}&after=${options.after}`, {
      headers: { authorization: `Bearer ${options.apiKey}`, 'last-event-id': ids.at(-1) ?? options.after },
      signal: controller.signal,
    })
    if (response.status !== 200) throw new Error(`the stream answered ${response.status}`)
    connections++
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      // Counts whole events only. An event that a kill cut off is sent again.
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const id = /^id: (.*)$/m.exec(text.slice(0, end))?.[1]
        text = text.slice(end + 2)
        if (id) ids.push(id)
      }
    }
  }

  const run = (async () => {
    while (!controller.signal.aborted) {
      await connect().catch(() => {})
      await delay(30)
    }
  })()
  return {
    ids,
    connections: () => connections,
    stop: async () => {
      controller.abort()
      await run
    },
  }
}
