// Names and paths of the embedded database.
import { join } from 'node:path'

/** Names inside the embedded database. */
export const userName = 'callsign'
export const databaseName = 'callsign'

export const clusterPath = (dataDir: string): string => join(dataDir, 'postgres')

/**
 * PostgreSQL's path to its own directory, which is its working directory. On Linux this path also works below directories that its account
 * may not pass through, such as /root, and for any path length.
 */
export const directoryArgument = (directory: string): string => (process.platform === 'linux' ? '/proc/self/cwd' : directory)

/** Nothing of the server's environment is passed to PostgreSQL. */
export const programEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
