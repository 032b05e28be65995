// Lists the figures and runs them: `npm run bench`, `npm run bench -- get-message`, `npm run bench -- all`.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = import.meta.dirname
const figures = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'main')
  .sort()

const [wanted, ...rest] = process.argv.slice(2)
if (wanted === undefined) {
  const width = Math.max(...figures.map((name) => name.length))
  const sentenceOf = (name: string) => (readFileSync(join(folder, `${name}.ts`), 'utf8').split('\n', 1)[0] as string).replace(/^\/\/ /, '')
  for (const name of figures) console.log(`${name.padEnd(width)}  ${sentenceOf(name)}`)
  console.log('\nRun npm run bench -- NAME, or all as NAME. The options are --rounds 3, --seconds 3 and --connections 1,16,64')
} else if (wanted !== 'all' && !figures.includes(wanted)) {
  console.error(`${wanted} is not a benchmark. Run npm run bench to list them.`)
  process.exitCode = 2
} else {
  for (const name of wanted === 'all' ? figures : [wanted]) {
    const run = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(folder, `${name}.ts`), ...rest], {
      stdio: 'inherit',
    })
    if (run.status !== 0) process.exitCode = 1
  }
}
