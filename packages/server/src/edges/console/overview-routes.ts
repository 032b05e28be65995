// The route of the overview.
import type { Overviews } from '../../features/account/overview/operations.ts'
import { type ConsoleRoute, signedIn } from './routes.ts'

export const overviewRoutes = (overviews: Overviews): ConsoleRoute[] => [
  signedIn('session', 'GET', 'overview', null, async ({ session }) => ({ body: await overviews.describe(session) })),
]
