// The tools of the SDK against a server, and their forms for agent frameworks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { type AgentTool, createTools, toAiSdk, toClaudeAgentSdk, toLangChain, toMastra, toOpenAiAgents } from '../src/tools/index.ts'

let harness: Harness
let tools: AgentTool[]
let apiKey: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('support')
  apiKey = await harness.agentKey('sales')
  tools = await createTools({ url: harness.baseUrl, apiKey })
})
afterAll(() => harness?.stop())

const named = (name: string): AgentTool => tools.find((tool) => tool.name === name) as AgentTool

describe('createTools', () => {
  test('an agent key acts for its agent', async () => {
    expect(tools).toHaveLength(24)
    expect(named('mail_list').inputSchema.properties).not.toHaveProperty('agent')
    const { structured } = await named('whoami').execute({})
    expect(structured).toMatchObject({ agent: 'sales', email_address: 'sales@agents.localhost' })
  })

  test('an organization key acts for the given agents', async () => {
    const options = {
      url: harness.baseUrl,
      apiKey: harness.organizationKey,
      agents: ['support'],
      toolsets: ['mail'] as const,
      readOnly: true,
    }
    const few = await createTools(options)
    expect(few.every(({ isReadOnly }) => isReadOnly)).toBe(true)
    expect((await few.find(({ name }) => name === 'whoami')?.execute({}))?.structured.agent).toBe('support')
  })

  test('sends, waits, and reads what arrived with its attachment', async () => {
    const content = Buffer.from('Line one\nLine two').toString('base64')
    await harness.send('support', 'sales@agents.localhost', {
      subject: 'A file',
      attachments: [{ filename: 'note.txt', content_type: 'text/plain', content }],
    })
    const message = await harness.waitForMail('sales', 'A file')
    const got = await named('attachment_get').execute({ message_id: message.id, attachment_id: message.attachments[0].id })
    expect(got.isError).toBe(false)
    expect(got.structured.content).toMatch(/^<untrusted-\w+>\nnote\.txt \(text\/plain\)\n\nLine one\nLine two\n<\/untrusted-\w+>$/)
    const sent = await named('mail_reply').execute({ message_id: message.id, text: 'Thanks.' })
    expect(sent.structured).toMatchObject({ state: 'queued' })
  })

  test('a path is not changed by an argument', async () => {
    for (const message_id of ['../../me', '..', 'msg_1/../../x', '%2e%2e']) {
      const { isError, structured } = await named('mail_get').execute({ message_id })
      expect({ message_id, isError, code: structured.code }).toEqual({ message_id, isError: true, code: 'not_found' })
    }
  })

  test('a wrong key rejects, and a call that fails later does not', async () => {
    await expect(createTools({ url: harness.baseUrl, apiKey: 'svc_live_wrong' })).rejects.toMatchObject({ status: 401 })
    const gone = await createTools({
      url: harness.baseUrl,
      apiKey,
      retriesMax: 0,
      fetch: (input, init) => (input.endsWith('/api/v1/me') ? fetch(input, init) : Promise.reject(new Error('gone'))),
    })
    expect(await gone[1]?.execute({})).toMatchObject({ isError: true, structured: { code: 'connection_failed' } })
  })

  test('a signal ends a wait', async () => {
    const controller = new AbortController()
    const waiting = named('mail_wait').execute({ timeout: 60 }, { signal: controller.signal })
    controller.abort()
    expect((await waiting).isError).toBe(true)
  })
})

describe('the forms for frameworks', () => {
  test('toAiSdk', async () => {
    const made = toAiSdk(tools, (schema) => ({ jsonSchema: schema }))
    expect(Object.keys(made)).toEqual(tools.map(({ name }) => name))
    expect(made.mail_search?.inputSchema.jsonSchema).toMatchObject({ type: 'object', required: ['q'] })
    expect(await made.whoami?.execute({}, {})).toContain('You act for sales')
  })

  test('toOpenAiAgents, toLangChain, toMastra', async () => {
    const [openAi] = toOpenAiAgents(tools, (options) => options)
    expect(await openAi?.execute({})).toContain('You act for sales')
    const [langChain] = toLangChain(tools, (run, options) => ({ run, ...options }))
    expect(langChain?.name).toBe('whoami')
    expect(await langChain?.run({})).toContain('You act for sales')
    const mastra = toMastra(tools, (options) => options)
    expect(mastra.whoami?.id).toBe('whoami')
    expect(await mastra.whoami?.execute({})).toEqual({ text: expect.stringContaining('You act for sales') })
  })

  test('toClaudeAgentSdk', () => {
    expect(toClaudeAgentSdk({ url: 'https://a.example/', apiKey: 'k', toolsets: ['mail', 'events'], readOnly: true })).toEqual({
      callsign: { type: 'http', url: 'https://a.example/mcp?toolsets=mail%2Cevents&read_only=1', headers: { Authorization: 'Bearer k' } },
    })
  })
})
