// The tools in the forms that agent frameworks take. Their types are structural, so that the SDK depends on no framework.
import type { AgentTool, JsonSchema } from './agent-tool.ts'

type AiSdkTool = {
  description: string
  inputSchema: { jsonSchema: JsonSchema }
  execute: (input: unknown, options: { abortSignal?: AbortSignal | undefined }) => Promise<string>
}

/** For `tools` of generateText and streamText of the AI SDK (`ai`). `jsonSchema` is its function of that name. */
export function toAiSdk<S>(
  tools: AgentTool[],
  jsonSchema: (schema: JsonSchema) => S,
): Record<string, Omit<AiSdkTool, 'inputSchema'> & { inputSchema: S }> {
  const entries = tools.map(({ name, description, inputSchema, execute }) => {
    const run: AiSdkTool['execute'] = async (input, { abortSignal }) => (await execute(input, { signal: abortSignal })).text
    return [name, { description, inputSchema: jsonSchema(inputSchema), execute: run }] as const
  })
  return Object.fromEntries(entries)
}

/** For `tools` of an Agent of the OpenAI Agents SDK (`@openai/agents`). `tool` is its function of that name. */
export function toOpenAiAgents<T>(
  tools: AgentTool[],
  tool: (options: {
    name: string
    description: string
    parameters: never
    strict: false
    execute: (input: unknown) => Promise<string>
  }) => T,
): T[] {
  return tools.map(({ name, description, inputSchema, execute }) =>
    tool({
      name,
      description,
      parameters: { ...inputSchema, additionalProperties: true } as never,
      strict: false,
      execute: async (input) => (await execute(input)).text,
    }),
  )
}

/** For `tools` of LangChain agents. `tool` is the function of `@langchain/core/tools`. */
export function toLangChain<T>(
  tools: AgentTool[],
  tool: (run: (input: unknown) => Promise<string>, options: { name: string; description: string; schema: never }) => T,
): T[] {
  return tools.map(({ name, description, inputSchema, execute }) =>
    tool(async (input) => (await execute(input)).text, { name, description, schema: inputSchema as never }),
  )
}

/** For `tools` of a Mastra Agent. `createTool` is the function of `@mastra/core/tools`. */
export function toMastra<T>(
  tools: AgentTool[],
  createTool: (options: { id: string; description: string; inputSchema: never; execute: (input: unknown) => Promise<unknown> }) => T,
): Record<string, T> {
  const entries = tools.map(({ name, description, inputSchema, execute }) => {
    const run = async (input: unknown) => ({ text: (await execute(input)).text })
    return [name, createTool({ id: name, description, inputSchema: inputSchema as never, execute: run })] as const
  })
  return Object.fromEntries(entries)
}

/** For `mcpServers` of the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`), which connects to the MCP endpoint of the server by itself. */
export function toClaudeAgentSdk(options: { url: string; apiKey: string; toolsets?: readonly string[]; readOnly?: boolean }) {
  const url = new URL(`${options.url.replace(/\/+$/, '')}/mcp`)
  if (options.toolsets) url.searchParams.set('toolsets', options.toolsets.join(','))
  if (options.readOnly) url.searchParams.set('read_only', '1')
  return { callsign: { type: 'http' as const, url: url.href, headers: { Authorization: `Bearer ${options.apiKey}` } } }
}
