// The same call as curl, SDK and CLI, for empty states and help.
export type Samples = { curl: string; sdk: string; cli: string }

type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /api/v1. */
  path: string
  body?: unknown
  /** The statement of the SDK. The line that creates the client is added. */
  sdk: string
  cli: string
}

/** Writes the three forms with the address of this server. `$KEY` stands for the key. */
export function samplesOf({ method, path, body, sdk, cli }: Call): Samples {
  const lines = [
    `curl ${/[[\]{}]/.test(path) ? '-g ' : ''}${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}'${location.origin}/api/v1${path}'`,
    `-H "Authorization${':'} Bearer $KEY"`,
    ...(body === undefined ? [] : [`-H 'Content-Type${':'} application/json'`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ]
  return {
    curl: lines.join(' \\\n  '),
    sdk: `const callsign = new Callsign({ url, apiKey })\n${sdk}`,
    cli,
  }
}
