// Lists the processes of a data directory from /proc. Shows which PostgreSQL serves it, and any process that outlived a kill.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export type Found = { pid: number; parentPid: number; name: string }

/** Every process that works in the database directory. These are PostgreSQL with its children, and the watcher beside it. Linux only. */
export function processesOf(dataDir: string): Found[] {
  const directory = join(realpathSync(dataDir), 'postgres')
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      if (readlinkSync(`/proc/${name}/cwd`) !== directory) return []
      // The line is `pid (name) state parent …`, and the name may contain anything.
      const [, processName = '', parentPid = ''] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? []
      return [{ pid: Number(name), parentPid: Number(parentPid), name: processName }]
    } catch {
      // The process has ended in the meantime, or belongs to another user.
      return []
    }
  })
}

/** The PostgreSQL processes that do not belong to this one. */
export function strayPostgres(dataDir: string, postgresPid: number): Found[] {
  return processesOf(dataDir).filter(({ name, pid, parentPid }) => name === 'postgres' && pid !== postgresPid && parentPid !== postgresPid)
}

/** The number of the PostgreSQL that serves the directory now, or null. */
export function findPostgres(dataDir: string): number | null {
  let pid: number
  try {
    pid = Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return null
  }
  return processesOf(dataDir).some((found) => found.pid === pid && found.name === 'postgres') ? pid : null
}
