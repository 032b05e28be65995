// `npm run fuzz` runs ten minutes of broken mail, hostile senders and broken SMTP, and fails on a crash, hang or memory growth. New inputs are
// selected by code coverage. Takes --minutes N, --seed N and --only mail|sender|smtp. --blind selects by results only, and --replay FILE runs one
// input again.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { Coverage } from './coverage.ts'
import { type Chance, createChance, mutate, Pool, readDialogSeeds, readMailSeeds } from './inputs.ts'
import { fuzzMail, mailWords } from './mail-target.ts'
import { fuzzSender, makeSenderSeeds, senderWords } from './sender-target.ts'
import { smtpWords, startTarget } from './smtp-target.ts'
import { within } from './storable.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    blind: { type: 'boolean', default: false },
    replay: { type: 'string' },
  },
})
const seed = Number(values.seed)
const chance = createChance(seed)
const endMs = performance.now() + Number(values.minutes) * 60_000
const growthBytesMax = 24 * 1024 * 1024
const reportEveryMs = 60_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** Bytes still held after garbage collection. */
async function heldBytes(): Promise<number> {
  // Buffers are freed in the event loop iteration after the collection that found them.
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const target = await startTarget()
type Input = { bytes: Buffer; seed: number }
type Run = (bytes: Buffer, chance: Chance) => string | Promise<string>
const kindOf = (name: string, words: readonly string[], perTurn: number, seeds: Buffer[], run: Run) => ({
  ...{ name, words, perTurn, seeds, run },
  pool: new Pool(),
  count: 0,
})
type Kind = ReturnType<typeof kindOf>
const kinds = [
  kindOf('mail', mailWords, 50, readMailSeeds(), fuzzMail),
  kindOf('sender', senderWords, 30, await makeSenderSeeds(), fuzzSender),
  kindOf('smtp', smtpWords, 10, readDialogSeeds(), target.fuzzSession),
].filter(({ name }) => values.only === undefined || values.only === name)

/** Saves the input and exits, so that one finding is fixed before the next is sought. */
function report({ name }: Kind, input: Input, error: unknown): never {
  const folder = join(tmpdir(), 'callsign-fuzz')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}-${seed}-${Date.now()}`)
  writeFileSync(file, input.bytes)
  const again = `--replay ${file} --only ${name} --seed ${input.seed}`
  console.error(`${name}, seed ${seed}: ${error instanceof Error ? error.stack : error}\nReproduce with npm run fuzz -- ${again}`)
  process.exit(1)
}

/** Random choices during a run come from the input's own seed, so that a run is repeatable. */
async function runOne(kind: Kind, input: Input): Promise<string> {
  const run = () => kind.run(input.bytes, createChance(input.seed))
  try {
    return kind.name === 'smtp' ? await run() : await within(run)
  } catch (error) {
    report(kind, input, error)
  }
}

const coverage = values.blind ? null : new Coverage()
await coverage?.start()

/** Runs the inputs and keeps those that show a new behaviour. When together they reached new code, each is run again to see which did. */
async function runAll(kind: Kind, inputs: Input[]): Promise<void> {
  for (const input of inputs) {
    kind.pool.addBehaviour(await runOne(kind, input), input.bytes)
    kind.count++
    Atomics.add(lived, 0, 1)
  }
  const reached = new Set(await coverage?.takeNew())
  for (const input of reached.size > 0 ? inputs : []) {
    await runOne(kind, input)
    const blocks = ((await coverage?.take()) ?? []).filter((block) => reached.delete(block))
    if (blocks[0] !== undefined) kind.pool.addFirst(`block ${blocks[0]}`, input.bytes)
  }
}

// The main thread cannot detect its own hang, so a second thread watches a heartbeat.
const life = new SharedArrayBuffer(4)
const lived = new Int32Array(life)
const watch = new Worker(
  `const { workerData } = require('node:worker_threads'); const lived = new Int32Array(workerData); let last = -1
  setInterval(() => { const now = Atomics.load(lived, 0); if (now === last) { console.error('nothing has moved for a minute'); process.kill(process.pid, 'SIGKILL') } last = now }, 60_000)`,
  { eval: true, workerData: life },
)
watch.unref()

if (values.replay !== undefined) {
  for (const kind of kinds) console.log(kind.name, await runOne(kind, { bytes: readFileSync(values.replay), seed }))
  process.exit(0)
}
for (const kind of kinds) {
  for (const [index, bytes] of kind.seeds.entries()) kind.pool.addFirst(`seed ${index}`, bytes)
  await runAll(
    kind,
    kind.seeds.map((bytes) => ({ bytes, seed: chance.below(2 ** 31) })),
  )
}

let baseline = Number.POSITIVE_INFINITY
let nextReportMs = performance.now() + Math.min(reportEveryMs, Number(values.minutes) * 15_000)
while (performance.now() < endMs) {
  for (const kind of kinds) {
    const inputs = Array.from({ length: kind.perTurn }, () => ({
      bytes: mutate(kind.pool.pick(chance), kind.pool.pick(chance), kind.words, chance),
      seed: chance.below(2 ** 31),
    }))
    await runAll(kind, inputs)
  }
  if (performance.now() < nextReportMs) continue
  nextReportMs = performance.now() + reportEveryMs
  const held = await heldBytes()
  console.log(
    `${kinds.map(({ name, count, pool }) => `${count} ${name} (${pool.size} kept)`).join(', ')}, ${coverage?.size ?? 0} blocks, ${(held / 1_048_576).toFixed(1)} MB held`,
  )
  // The first report comes after everything has been loaded and compiled. Inputs kept in the pools are not counted as growth.
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
  `seed ${seed}: ${kinds.map(({ name, count, pool }) => `${count} ${name} inputs, ${pool.size} kept`).join(', ')}, ${coverage?.size ?? 0} blocks, ${(grown / 1_048_576).toFixed(1)} MB grown, ${(pooled / 1_048_576).toFixed(1)} MB of them inputs kept`,
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
