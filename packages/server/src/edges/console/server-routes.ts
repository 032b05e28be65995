// The route of settings of the server that owners see in the console.
import { type ConsoleRoute, signedIn } from './routes.ts'

export type ServerSettings = {
  version: string
  public_url: string
  oidc: { issuer: string; name: string; redirect_uri: string } | null
  request_log_days: number
}

export const serverRoutes = (describe: () => ServerSettings): ConsoleRoute[] => [
  signedIn('owner', 'GET', 'server', null, async () => ({ body: describe() })),
]
