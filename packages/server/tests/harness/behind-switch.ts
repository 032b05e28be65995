// A harness that reaches its database through a switch, which loses answers and closes connections.
import { onTestFinished } from 'vitest'
import { createDatabase } from './database.ts'
import { type DatabaseSwitch, startDatabaseSwitch } from './database-switch.ts'
import { type Harness, startHarness } from './start.ts'

/** Starts it with these settings and the agent anna. It stops with the test. */
export async function startBehindSwitch(settings: Record<string, string> = {}): Promise<{ harness: Harness; address: DatabaseSwitch }> {
  const database = await createDatabase()
  onTestFinished(database.drop)
  // A URL of a socket has no host before its path.
  const { username: user, hostname, pathname: name, port, searchParams } = new URL(database.url.replace('@/', '@socket/'))
  const address = await startDatabaseSwitch({ host: searchParams.get('host') ?? hostname, port: Number(searchParams.get('port') ?? port) })
  onTestFinished(address.stop)
  const harness = await startHarness({ ...settings, CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}${name}` })
  onTestFinished(() => harness.stop())
  await harness.createAgent('anna')
  return { harness, address }
}
