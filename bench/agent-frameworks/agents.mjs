// One scripted agent per framework. Each model calls `whoami`, gets the result of the tool, and ends with it.

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
import { createAgent } from 'langchain'

const { createTools, toAiSdk, toLangChain, toMastra, toOpenAiAgents } = await import(process.env.CALLSIGN_SDK)
const options = { url: process.env.CALLSIGN_URL, apiKey: process.env.CALLSIGN_API_KEY }
const tools = await createTools(options)
const expected = 'You act for sales'
const mcp = { url: `${options.url}/mcp`, headers: { Authorization: `Bearer ${options.apiKey}` } }

let failed = 0
async function check(name, run) {
  try {
    const { result, count } = await run()
    const isRight = String(result).includes(expected) && count === tools.length
    if (!isRight) failed++
    console.log(`${isRight ? 'ok    ' : 'FAILED'}  ${name.padEnd(28)} ${count} tools  ${isRight ? '' : result}`)
  } catch (error) {
    failed++
    console.log(`FAILED  ${name.padEnd(28)} ${error?.stack ?? error}`)
  }
}

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
/** A model of the AI SDK that calls `whoami` once. */
const MockModel = aiTest.MockLanguageModelV4 ?? aiTest.MockLanguageModelV3
const aiModel = () => {
  let turn = 0
  const generate = async () =>
    turn++ === 0
      ? {
          content: [{ type: 'tool-call', toolCallId: '1', toolName: 'whoami', input: '{}' }],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        }
      : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] }
  return new MockModel({ doGenerate: generate })
}
const stopAfter = (isStepCount ?? stepCountIs)(3)
const toolText = ({ steps }) => JSON.stringify(steps.flatMap((step) => step.toolResults.map((result) => result.output)))

await check('AI SDK', async () => {
  const made = toAiSdk(tools, jsonSchema)
  const result = await generateText({ model: aiModel(), tools: made, prompt: 'Who are you?', stopWhen: stopAfter })
  return { result: toolText(result), count: Object.keys(made).length }
})

await check('AI SDK, MCP client', async () => {
  const client = await createMCPClient({ transport: { type: 'http', ...mcp } })
  const made = await client.tools()
  const result = await generateText({ model: aiModel(), tools: made, prompt: 'Who are you?', stopWhen: stopAfter })
  await client.close()
  return { result: toolText(result), count: Object.keys(made).length }
})

await check('OpenAI Agents', async () => {
  const made = toOpenAiAgents(tools, openAiTool)
  let turn = 0
  const model = {
    getResponse: async () => ({
      usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      output:
        turn++ === 0
          ? [{ type: 'function_call', callId: '1', name: 'whoami', arguments: '{}', status: 'completed' }]
          : [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }],
    }),
    getStreamedResponse: () => {
      throw new Error('not streamed')
    },
  }
  const runner = new Runner({ modelProvider: { getModel: () => model }, tracingDisabled: true })
  const result = await runner.run(new Agent({ name: 'Sales', tools: made, model }), 'Who are you?')
  return { result: JSON.stringify(result.newItems.map((item) => item.toJSON())), count: made.length }
})

/** A model of LangChain that calls `whoami` once. */
class ScriptedModel extends FakeListChatModel {
  turn = 0
  constructor() {
    super({ responses: ['done'] })
  }
  bindTools() {
    return this
  }
  async _generate() {
    const message =
      this.turn++ === 0 ? new AIMessage({ content: '', tool_calls: [{ id: '1', name: 'whoami', args: {} }] }) : new AIMessage('done')
    return { generations: [{ text: '', message }] }
  }
}
const runLangChain = async (made) => {
  const { messages } = await createAgent({ model: new ScriptedModel(), tools: made }).invoke({
    messages: [{ role: 'user', content: 'Who are you?' }],
  })
  return { result: JSON.stringify(messages.map(({ content }) => content)), count: made.length }
}
await check('LangChain', () => runLangChain(toLangChain(tools, langChainTool)))
await check('LangChain, MCP adapters', async () => {
  const client = new MultiServerMCPClient({ mcpServers: { callsign: { transport: 'http', ...mcp } } })
  const found = await runLangChain(await client.getTools())
  await client.close()
  return found
})

await check('Mastra', async () => {
  const made = toMastra(tools, createTool)
  const agent = new MastraAgent({ id: 'sales', name: 'Sales', instructions: 'Help.', model: aiModel(), tools: made })
  const result = await agent.generate('Who are you?', { maxSteps: 3 })
  return { result: JSON.stringify(result.toolResults ?? result.steps), count: Object.keys(made).length }
})

process.exitCode = failed === 0 ? 0 : 1
