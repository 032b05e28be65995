// Delivers simulated mail and reports where it is.
import { toast } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'

/** The message with a way to the delivered mail. */
export async function deliverMail(body: Parameters<typeof client.simulator.mail>[0]): Promise<void> {
  const { agent_handle: handle, message_id: id, status } = await client.simulator.mail(body)
  const path = status === 'quarantined' ? `/quarantine/${handle}/${id}` : `/inbox/${handle}/${id}`
  toast({
    text: status === 'quarantined' ? `In the quarantine of ${handle}` : `In the inbox of ${handle}`,
    action: { label: 'Open', run: () => go(addressOf(path)) },
  })
}
