// The directory through which clients reach the embedded PostgreSQL's socket, with a path short enough for a socket's name.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { port } from './settings.ts'

/** Maximum bytes of a socket's path, which is 108 on Linux and 104 on macOS including the closing NUL. */
const pathBytesMax = process.platform === 'linux' ? 107 : 103

const refreshMs = 3_600_000

/**
 * The database directory itself, or, when its path is too long, a symbolic link to it in a private directory below the temporary one.
 * `release` stops the renewal of that link.
 */
export function socketDirectory(directory: string): { host: string; release: () => void } {
  if (Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) <= pathBytesMax) return { host: directory, release: () => {} }
  const short = join(tmpdir(), `callsign-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`)
  const host = join(short, 'db')
  link(short, host, directory)
  // Systems that clean their temporary directory go by age.
  const timer = setInterval(() => link(short, host, directory), refreshMs).unref()
  return {
    host,
    release: () => {
      clearInterval(timer)
      rmSync(short, { recursive: true, force: true })
    },
  }
}

function link(short: string, host: string, directory: string): void {
  mkdirSync(short, { recursive: true, mode: 0o700 })
  const stat = lstatSync(short)
  // In a directory that others may write to, another user may have created this name as a trap.
  if (!stat.isDirectory() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0)
    throw new Error(
      `${short} must be a directory that only this user can open, because it leads to the database's socket. Remove it, or use a shorter CALLSIGN_DATA_DIR.`,
    )
  const fresh = `${host}.new`
  rmSync(fresh, { force: true })
  symlinkSync(directory, fresh)
  renameSync(fresh, host)
}
