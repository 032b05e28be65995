// The rules that already block the sender of a message.
import { everyAgent } from '@callsign/contract/mail-rules'
import { ApiError, type MailRule, type Message } from '@callsign/sdk'
import { useQuery } from '../../cache/query.ts'
import { client } from '../../session/client.ts'

const isBlocking = (rule: MailRule | null): rule is MailRule =>
  rule !== null && rule.action === 'block' && rule.status === 'active' && rule.direction !== 'outbound'

/** The rule that decided about the message, as it is now. */
async function findDeciding(handle: string, ruleId: string | null): Promise<MailRule | null> {
  if (ruleId === null) return null
  for (const owner of [handle, everyAgent]) {
    const rule = await client.mailRules.get(owner, ruleId).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    })
    if (rule) return rule
  }
  return null
}

/** The active rule that keeps this sender out, or null. undefined until it is known. */
export function useBlockingRule(handle: string, message: Message, entries: string[], isWanted: boolean): MailRule | null | undefined {
  const key = isWanted ? `rules blocking ${handle} ${message.id} ${entries.join(' ')}` : null
  return useQuery(key, async () => {
    const deciding = await findDeciding(handle, message.guardrail?.rule_id ?? null)
    if (isBlocking(deciding)) return deciding
    const lists = [handle, everyAgent].flatMap((owner) =>
      entries.map((entry) => client.mailRules.list(owner, { action: 'block', status: 'active', entry, limit: 10 })),
    )
    return (await Promise.all(lists)).flatMap((page) => page.data).find(isBlocking) ?? null
  }).data.value
}
