// Connections, proxies and webhooks of the Python client, checked in Python with its standard library.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, python, skipReason } from './python.ts'

test.skipIf(!python)(`connections, proxies and webhooks${skipReason}`, async () => {
  const child = spawn(python as string, ['-W', 'error', join(import.meta.dirname, 'check_transport.py')], { env: environment })
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code, printed).toBe(0)
  expect(printed).toMatch(/^OK$/m)
})
