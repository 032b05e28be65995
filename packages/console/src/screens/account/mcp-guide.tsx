// Commands that connect an MCP client and other programs to this server.
import { CodeSamples } from '../../elements/empty.tsx'
import { addressOf } from '../../navigation/place.ts'

const url = `${location.origin}/mcp`

/** The first form is not an HTTP call. */
export const connectNames = { curl: 'MCP client' }

export const connectSamples = {
  curl: `npx add-mcp ${url} --header "Authorization${':'} Bearer $KEY"`,
  sdk: `import { createTools } from '@callsign/sdk/tools'\n\nconst tools = await createTools({ url${':'} '${location.origin}', apiKey })`,
  cli: `export CALLSIGN_URL=${location.origin} CALLSIGN_API_KEY=$KEY\nnpx callsign whoami`,
}

export function McpGuide() {
  return (
    <div class="stack">
      <p>
        An MCP client uses the mail, texts, iMessage and tunnel of an agent as tools. Add the URL {url} to the client, and it asks you for
        access here. For a client without OAuth, create a key for the agent under <a href={addressOf('/keys')}>Keys</a>.
      </p>
      <CodeSamples samples={connectSamples} names={connectNames} />
    </div>
  )
}
