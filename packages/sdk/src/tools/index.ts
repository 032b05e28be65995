// Tools for agents, and their forms for agent frameworks.
export { toAiSdk, toClaudeAgentSdk, toLangChain, toMastra, toOpenAiAgents } from './adapters.ts'
export { type AgentTool, createTools, type JsonSchema, type ToolResult, type Toolset, type ToolsOptions } from './agent-tool.ts'
