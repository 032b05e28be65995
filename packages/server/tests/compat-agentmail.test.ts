// AgentMail's SDK against this server, method by method, with each effect checked through our own API.
import { afterAll, beforeAll, test } from 'vitest'
import { accountChecks } from './harness/agentmail/account.ts'
import { type Check, type Context, createContext } from './harness/agentmail/context.ts'
import { draftChecks } from './harness/agentmail/drafts.ts'
import { inboxChecks } from './harness/agentmail/inboxes.ts'
import { listChecks } from './harness/agentmail/lists.ts'
import { messageChecks } from './harness/agentmail/messages.ts'
import { inAccountAndPod } from './harness/agentmail/scopes.ts'
import { threadChecks } from './harness/agentmail/threads.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let context: Context
beforeAll(async () => {
  harness = await startHarness()
  context = createContext(harness)
})
afterAll(() => harness?.stop())

/** The methods that this server answers, each with the check of its effect. */
const mapped: Record<string, Check> = {
  ...inAccountAndPod('inboxes', inboxChecks),
  ...messageChecks,
  ...threadChecks,
  ...draftChecks,
  ...listChecks,
  ...accountChecks,
}

test.each(Object.entries(mapped))('%s', (_, check) => check(context))
