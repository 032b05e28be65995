// The tools of a caller as clients list them. Made once per selection, because the schemas of all tools take longer than a call.
import { annotationsOf, type Tool } from '@callsign/contract/tools/tool'
import { inputOf, outputSchemaOf, selectTools } from '@callsign/contract/tools/tool-table'
import type { ListToolsResult } from '@modelcontextprotocol/server'
import type { McpCaller, ResultForm } from './caller.ts'

type Listed = ListToolsResult['tools'][number]

/** The tools by name, and the list of them. */
export type Offer = { byName: ReadonlyMap<string, Tool>; list: ListToolsResult }

const offersMax = 200

/** Finds the tools of a caller. Callers with the same agents and selection share them. */
export function createOffers(): (caller: Pick<McpCaller, 'agents' | 'selection' | 'results'>) => Offer {
  const offers = new Map<string, Offer>()
  return ({ agents, selection, results }) => {
    const name = JSON.stringify([agents, selection.toolsets ?? null, selection.readOnly === true, results])
    const known = offers.get(name)
    if (known) return known
    const selected = selectTools(selection)
    const offer = {
      byName: new Map(selected.map((tool) => [tool.name, tool])),
      list: { tools: selected.map((tool) => describe(tool, agents, results)) },
    }
    const [oldest] = offers.keys()
    if (offers.size >= offersMax && oldest !== undefined) offers.delete(oldest)
    offers.set(name, offer)
    return offer
  }
}

const describe = (tool: Tool, agents: readonly string[] | null, results: ResultForm): Listed => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputOf(tool, agents) as Listed['inputSchema'],
  ...(results === 'text' ? {} : { outputSchema: outputSchemaOf(tool) as Listed['outputSchema'] }),
  annotations: annotationsOf(tool),
})
