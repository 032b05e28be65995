// `npm run fuzz`: ten minutes of broken mail and broken SMTP without crash, hang or growth. Arguments: --minutes N, --seed N, --only mail|smtp.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { createChance, mutate, Pool, readDialogSeeds, readMailSeeds } from './inputs.ts'
import { fuzzMail, mailWords } from './mail-target.ts'
import { smtpWords, startTarget } from './smtp-target.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
  },
})
const seed = Number(values.seed)
const chance = createChance(seed)
const endMs = performance.now() + Number(values.minutes) * 60_000
const growthBytesMax = 24 * 1024 * 1024
const reportEveryMs = 60_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** What is still held after everything that can go has gone. */
async function heldBytes(): Promise<number> {
  // Buffers are let go in the turn after the collection that found them.
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const target = await startTarget()
const kinds = [
  { name: 'mail', words: mailWords, run: fuzzMail, pool: new Pool(), perTurn: 20, count: 0 },
  { name: 'smtp', words: smtpWords, run: target.fuzzSession, pool: new Pool(), perTurn: 4, count: 0 },
].filter(({ name }) => values.only === undefined || values.only === name)
const seedsOf = { mail: readMailSeeds(), smtp: readDialogSeeds() }

/** Keeps the input and ends: one finding is mended before the next is sought. */
function report(name: string, bytes: Buffer, error: unknown): never {
  const folder = join(tmpdir(), 'callsign-fuzz')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}-${seed}-${Date.now()}`)
  writeFileSync(file, bytes)
  console.error(`${name}, seed ${seed}: ${error instanceof Error ? error.stack : error}\nthe input is in ${file}`)
  process.exit(1)
}

// A hang in the main thread cannot be told from inside it: a second thread waits for signs of life.
const life = new SharedArrayBuffer(4)
const lived = new Int32Array(life)
const watch = new Worker(
  `const { workerData } = require('node:worker_threads'); const lived = new Int32Array(workerData); let last = -1
  setInterval(() => { const now = Atomics.load(lived, 0); if (now === last) { console.error('nothing has moved for a minute'); process.kill(process.pid, 'SIGKILL') } last = now }, 60_000)`,
  { eval: true, workerData: life },
)
watch.unref()

for (const kind of kinds) {
  for (const [index, bytes] of seedsOf[kind.name as keyof typeof seedsOf].entries()) {
    const behaviour = await kind.run(bytes, chance).catch((error: unknown) => report(kind.name, bytes, error))
    kind.pool.add(`${index} ${behaviour}`, bytes)
  }
}

let baseline = Number.POSITIVE_INFINITY
let nextReportMs = performance.now() + Math.min(reportEveryMs, Number(values.minutes) * 15_000)
while (performance.now() < endMs) {
  for (const kind of kinds) {
    for (let turn = 0; turn < kind.perTurn; turn++) {
      const bytes = mutate(kind.pool.pick(chance), kind.pool.pick(chance), kind.words, chance)
      const behaviour = await kind.run(bytes, chance).catch((error: unknown) => report(kind.name, bytes, error))
      kind.pool.add(behaviour, bytes)
      kind.count++
      Atomics.add(lived, 0, 1)
    }
  }
  if (performance.now() < nextReportMs) continue
  nextReportMs = performance.now() + reportEveryMs
  const held = await heldBytes()
  console.log(
    `${kinds.map(({ name, count, pool }) => `${count} ${name} (${pool.size} behaviours)`).join(', ')}; ${(held / 1_048_576).toFixed(1)} MB held`,
  )
  // The first report comes when everything has been loaded and compiled. What the pools keep is theirs.
  if (baseline === Number.POSITIVE_INFINITY) baseline = held
}
const pooled = kinds.reduce((sum, { pool }) => sum + pool.bytes, 0)
await target.stop()
const grown = (await heldBytes()) - baseline
const problems = [
  ...(grown > growthBytesMax + pooled ? [`memory grew by ${(grown / 1_048_576).toFixed(1)} MB`] : []),
  ...(target.connections() > 0 ? [`${target.connections()} sessions stayed open`] : []),
]
console.log(
  `seed ${seed}: ${kinds.map(({ name, count, pool }) => `${count} ${name} inputs, ${pool.size} behaviours`).join('; ')}; ${(grown / 1_048_576).toFixed(1)} MB grown, ${(pooled / 1_048_576).toFixed(1)} MB of them inputs kept`,
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
