// One scripted agent per framework. Each model carries out the task of scenario.mjs, over the tools of the SDK or over MCP.
import { createMCPClient } from '@ai-sdk/mcp'
import { AIMessage } from '@langchain/core/messages'
import { tool as langChainTool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Agent, tool as openAiTool, Runner } from '@openai/agents'
import { generateText, isStepCount, jsonSchema, stepCountIs } from 'ai'
import * as aiTest from 'ai/test'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { createAgent } from 'langchain'
import { createOwnTools, createScript, createSite } from './scenario.mjs'

const { createTools, toAiSdk, toLangChain, toMastra, toOpenAiAgents } = await import(`${process.env.CALLSIGN_SDK}/tools/index.ts`)
const { Callsign, createMemoryPins } = await import(`${process.env.CALLSIGN_SDK}/index.ts`)
const { CALLSIGN_URL: url, CALLSIGN_API_KEY: organizationKey } = process.env
const callsign = new Callsign({ url, apiKey: organizationKey, vault: { pins: createMemoryPins() } })
const { vault } = await callsign.vault.initialize()
const site = createSite(Number(process.env.CALLSIGN_SMTP_PORT))
await callsign.identities.create({ agent_handle: 'customer' })
const turnsMax = 10

/** A new agent whose mail needs approval, its key, and a question that waits for its reply. */
async function prepare(agent) {
  await callsign.identities.create({ agent_handle: agent, draft_approval: 'required' })
  const { key } = await callsign.keys.create({ name: agent, type: 'agent', agent_handle: agent })
  const body = { to: [`${agent}@agents.localhost`], subject: 'Order 2207', text: 'When do you deliver?' }
  await callsign.mail.send({ agent: 'customer', ...body })
  await arrival(agent, { subject: 'Order 2207' })
  const own = createOwnTools({ site, vault, agent })
  return { own, key, tools: async () => [...(await createTools({ url, apiKey: key })), ...own], mcp: mcpOf(key) }
}
const mcpOf = (key) => ({ url: `${url}/mcp`, headers: { Authorization: `Bearer ${key}` } })

/** What has to be true after the task. A person approves the draft here. */
async function judge(agent) {
  const email = `${agent}@agents.localhost`
  if (!site.confirmed.has(email)) return 'the account is not confirmed'
  const { payload } = await vault.get(`garden of ${agent}`)
  if (payload.username !== email || payload.password.length < 20) return 'the password is not in the vault'
  const { drafts } = await callsign.drafts.list(agent)
  if (drafts.length !== 1) return `${drafts.length} drafts wait for approval`
  await callsign.drafts.send(agent, drafts[0].id)
  const message = await arrival('customer', { from: email })
  return message?.text.includes('We deliver on Friday.') ? null : 'the reply did not arrive'
}

/** The message that passes the filters, also when it arrived a moment ago. */
const arrival = async (agent, filters) => {
  const after = new Date(Date.now() - 60_000).toISOString()
  return (await callsign.mailboxes.wait(agent, { ...filters, after, timeout: 30 })).message
}

let failed = 0
async function check(name, agent, run) {
  const startedMs = performance.now()
  let problem
  try {
    await run(await prepare(agent))
    problem = await judge(agent)
  } catch (error) {
    problem = error?.stack ?? String(error)
  }
  if (problem) failed++
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.log(`${problem ? 'FAILED' : 'ok    '}  ${name.padEnd(26)} ${seconds} s  ${problem ?? ''}`)
}

/** Tool results are JSON inside of JSON. The script reads them as lines. */
const transcriptOf = (messages) => JSON.stringify(messages).replace(/\\+n/g, '\n')

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
const MockModel = aiTest.MockLanguageModelV4 ?? aiTest.MockLanguageModelV3
const aiModel = () => {
  const script = createScript()
  return new MockModel({
    doGenerate: async ({ prompt }) => {
      const next = script(transcriptOf(prompt))
      if (!next)
        return { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] }
      const [toolName, input] = next
      const call = { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) }
      return { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] }
    },
  })
}
const runAiSdk = (tools) =>
  generateText({ model: aiModel(), tools, prompt: 'Do the task.', stopWhen: (isStepCount ?? stepCountIs)(turnsMax) })

await check('AI SDK', 'ai_sdk', async ({ tools }) => runAiSdk(toAiSdk(await tools(), jsonSchema)))
await check('AI SDK, MCP client', 'ai_sdk_mcp', async ({ own, mcp }) => {
  const client = await createMCPClient({ transport: { type: 'http', ...mcp } })
  await runAiSdk({ ...(await client.tools()), ...toAiSdk(own, jsonSchema) })
  await client.close()
})

await check('OpenAI Agents', 'openai_agents', async ({ tools }) => {
  const script = createScript()
  const model = {
    getResponse: async ({ input }) => {
      const next = script(transcriptOf(input))
      const output = next
        ? { type: 'function_call', callId: crypto.randomUUID(), name: next[0], arguments: JSON.stringify(next[1]), status: 'completed' }
        : { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }
      return { usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: [output] }
    },
    getStreamedResponse: () => {
      throw new Error('not streamed')
    },
  }
  const runner = new Runner({ modelProvider: { getModel: () => model }, tracingDisabled: true })
  await runner.run(new Agent({ name: 'Sales', tools: toOpenAiAgents(await tools(), openAiTool), model }), 'Do the task.')
})

class ScriptedModel extends FakeListChatModel {
  script = createScript()
  constructor() {
    super({ responses: ['done'] })
  }
  bindTools() {
    return this
  }
  async _generate(messages) {
    const next = this.script(transcriptOf(messages.map(({ content }) => content)))
    const calls = next ? [{ id: crypto.randomUUID(), name: next[0], args: next[1] }] : []
    return { generations: [{ text: '', message: new AIMessage({ content: next ? '' : 'done', tool_calls: calls }) }] }
  }
}
const runLangChain = (tools) =>
  createAgent({ model: new ScriptedModel(), tools }).invoke({ messages: [{ role: 'user', content: 'Do the task.' }] })
await check('LangChain', 'langchain', async ({ tools }) => runLangChain(toLangChain(await tools(), langChainTool)))
await check('LangChain, MCP adapters', 'langchain_mcp', async ({ own, mcp }) => {
  const client = new MultiServerMCPClient({ mcpServers: { callsign: { transport: 'http', ...mcp } } })
  await runLangChain([...(await client.getTools()), ...toLangChain(own, langChainTool)])
  await client.close()
})

await check('Mastra', 'mastra', async ({ tools }) => {
  const made = toMastra(await tools(), createTool)
  const agent = new MastraAgent({ id: 'sales', name: 'Sales', instructions: 'Help.', model: aiModel(), tools: made })
  await agent.generate('Do the task.', { maxSteps: turnsMax })
})

/** The list as a client gives it to a model: name, description and arguments. */
const { key } = await callsign.keys.create({ name: 'Tokens', type: 'agent', agent_handle: 'customer' })
for (const [title, options] of [
  ['every toolset', {}],
  ['mail', { toolsets: ['mail'] }],
  ['mail, read only', { toolsets: ['mail'], readOnly: true }],
]) {
  const listed = await createTools({ url, apiKey: key, ...options })
  const text = JSON.stringify(listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))
  console.log(`tokens  ${title.padEnd(26)} ${encode(text).length} tokens (o200k) in ${listed.length} tools`)
}

site.close()
process.exitCode = failed === 0 ? 0 : 1
