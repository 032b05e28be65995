// A process that runs the embedded database of the directory given as argument, for tests that kill it.
import { createLog } from '../../src/core/log.ts'
import { startEmbedded } from '../../src/edges/postgres/embedded/supervisor.ts'

const server = await startEmbedded({ dataDir: process.argv[2]!, log: createLog('silent') })
console.log(JSON.stringify({ pid: server.pid(), connection: server.connection }))
process.once('SIGTERM', () => void server.stop())
