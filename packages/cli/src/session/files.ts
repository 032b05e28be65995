// Reads files that are named on the command line.
import { readFile } from 'node:fs/promises'
import { UsageError } from '../usage-error.ts'

/** Reads a file of any content. Throws UsageError with its path. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new UsageError(unreadable(path, error))
  }
}

/** The reason why a file cannot be read, such as `note.txt does not exist.` */
function unreadable(path: string, error: unknown): string {
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'cannot be read by this user',
    EISDIR: 'is a folder',
  }
  return `${path} ${reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? `cannot be read (${(error as Error).message})`}.`
}
