// The participants of a thread, for whom the guardrails make an exemption.
import { addressKey } from '@callsign/mail/mail-address'
import type { Sql } from '../../../../core/sql.ts'
import type { MessageRow } from '../model.ts'
import * as threadStore from '../thread-store.ts'

/**
 * The participants of threads: addresses that the agent has written to, and authors of accepted replies, because messages can be deleted.
 * Addresses that a participant has added to To or Cc count if `isProven` holds for that message. Knowing a Message-ID is not enough.
 */
export async function findParticipants(
  sql: Sql,
  threadIds: string[],
  isProven: (authentication: MessageRow['authentication']) => boolean,
): Promise<(threadId: string, address: string) => boolean> {
  const rows = await threadStore.findThreadAddresses(sql, threadIds)
  const participants = new Map<string, Set<string>>(threadIds.map((id) => [id, new Set()]))
  const add = (row: threadStore.ThreadAddresses) => {
    for (const address of row.recipients) participants.get(row.thread_id)?.add(addressKey(address))
  }
  for (const row of rows) {
    if (row.direction === 'outbound') add(row)
    else if (row.guardrail?.basis === 'reply') participants.get(row.thread_id)?.add(addressKey(row.from_address))
  }
  const written = new Map([...participants].map(([id, addresses]) => [id, new Set(addresses)]))
  for (const row of rows)
    if (row.direction === 'inbound' && written.get(row.thread_id)?.has(addressKey(row.from_address)) && isProven(row.authentication))
      add(row)
  return (threadId, address) => participants.get(threadId)?.has(addressKey(address)) === true
}
