// Drafts that wait for a person, the oldest request first.
import type { Draft } from '@callsign/sdk'
import { listAll } from '../../cache/list-all.ts'
import { type Query, useQuery } from '../../cache/query.ts'
import { client } from '../../session/client.ts'

export type Waiting = { handle: string; draft: Draft }

export function useApprovalQueue(): Query<Waiting[]> {
  return useQuery('drafts approvals', async () => {
    const all = await listAll((page) => client.approvals.list(page))
    return all.map(({ agent_handle: handle, draft }) => ({ handle, draft }))
  })
}
