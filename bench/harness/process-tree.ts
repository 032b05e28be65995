// Processor time and memory of a process and its children, from Linux's /proc. Node and PostgreSQL are counted separately.
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time in these. */
const ticksPerSecond = 100

type Process = { pid: number; parent: number; name: string; ticks: number }

function readProcess(pid: number): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may contain spaces. The fields after it are counted from the state (proc_pid_stat(5), field 3).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    // utime, stime, and those of children that have ended and were waited for.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    return { pid, parent: Number(fields[1]), name, ticks }
  } catch {
    return null
  }
}

/** The process, its children, theirs, and so on. */
function readTree(root: number): Process[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
  const members = all.filter((one) => one.pid === root)
  for (const member of members) members.push(...all.filter((one) => one.parent === member.pid))
  return members
}

const isPostgres = (one: Process): boolean => one.name === 'postgres'

/** Processor seconds spent so far. */
export function readProcessorSeconds(root: number): { node: number; postgres: number } {
  const tree = readTree(root)
  const sum = (processes: Process[]) => processes.reduce((total, one) => total + one.ticks, 0) / ticksPerSecond
  return { node: sum(tree.filter((one) => !isPostgres(one))), postgres: sum(tree.filter(isPostgres)) }
}

/** In megabytes. `rss` counts shared memory in full per process. `pss` counts a process's share of it, so its sum is the memory in use. */
export function readMemory(root: number): Record<'node' | 'postgres', { rss: number; pss: number; processes: number }> {
  const tree = readTree(root)
  const sum = (processes: Process[]) => {
    const texts = processes.map((one) => readFileSync(`/proc/${one.pid}/smaps_rollup`, 'utf8'))
    const megabytes = (field: string) =>
      texts.reduce((total, text) => total + Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0), 0) / 1024
    return { rss: megabytes('Rss'), pss: megabytes('Pss'), processes: processes.length }
  }
  return { node: sum(tree.filter((one) => !isPostgres(one))), postgres: sum(tree.filter(isPostgres)) }
}
