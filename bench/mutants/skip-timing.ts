// Skips tests at their first reading of processor time, because they read megabytes and instrumented code is many times slower.
import { beforeEach } from 'vitest'

beforeEach(({ skip }) => {
  const skipTest = (): never => skip('measures processor time')
  process.cpuUsage = skipTest
  process.threadCpuUsage = skipTest
})
