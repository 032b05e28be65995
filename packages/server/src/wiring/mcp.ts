// Builds the MCP endpoint.
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/server.ts'
import { type McpOptions, mcpPath, mountMcp } from '../edges/mcp/pages.ts'
import { version } from './parts.ts'

type Options = { config: Config } & Pick<McpOptions, 'authenticate' | 'publicUrl'>

/** The endpoint of a process with the api role. */
export function createMcpPages({ config, authenticate, publicUrl }: Options): Pages[] {
  if (!config.roles.includes('api')) return []
  const paths = ['GET', 'POST', 'DELETE'].map((method) => ({ method, path: mcpPath }))
  return [{ paths, mount: (app, { admitBody }) => mountMcp(app, { version, authenticate, publicUrl, admitBody }) }]
}
