// The client of the tunnel figures, a process of its own as it would be on an agent's machine.
import { Callsign } from '@callsign/sdk'

export type ClientTask = { url: string; key: string; handle: string; port: number }

process.once('message', async ({ url, key, handle, port }: ClientTask) => {
  await new Callsign({ url, apiKey: key }).tunnels.listen(handle, port)
  process.send?.({ ready: true })
})
process.once('disconnect', () => process.exit(0))
