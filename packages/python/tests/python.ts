// The Python of this machine, and the environment in which it finds the client.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export const folder = join(import.meta.dirname, '..')
export const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
)
export const skipReason = python ? '' : ' (skipped: Python 3.10 or later is not installed)'
export const environment = { ...process.env, PYTHONPATH: join(folder, 'src'), PYTHONDONTWRITEBYTECODE: '1' }
