// The participants of a thread, for whom the guardrails make an exemption.
import { addressKey } from '@callsign/mail/mail-address'
import type { Sql } from '../../../core/sql.ts'
import type { MessageRow } from './model.ts'
import * as threadStore from './thread-store.ts'

/**
 * The participants of threads: those the agent has written to (or whose earlier reply was let in as one, since messages can be deleted), and those whom one
 * of them has added to To or Cc, if `isProven` says that it was their message. Knowing a Message-ID makes no participant.
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
