// Compares figures with their goals and with the last saved run.
import { type FigureName, type Goal, goals, isMet, lossSince } from './goals.ts'
import type { Result, Results } from './results.ts'

/** The saved figures as a Markdown table, with the machine and the day of each run. */
export function figureTable(saved: Results): string {
  const runs = Map.groupBy(Object.values(saved), ({ machine, date }) => `${date}, ${machine}`)
  const names = (Object.keys(goals) as FigureName[]).filter((name) => saved[name] !== undefined)
  const rows = names.map((name) => {
    const { value, before, date } = saved[name] as Result
    const goal: Goal = goals[name]
    return [goal.of, goal.against, String(before ?? ''), String(value), goalText(goal), isMet(goal, value) ? 'met' : 'short', date]
  })
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const heads = ['figure', 'against', 'before', 'measured', 'goal', '', 'day']
  return [...[...runs.keys()].map((run) => `Run of ${run}.`), '', line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join(
    '\n',
  )
}

/** A figure that is worse by more than this share is reported. */
const lossMax = 0.1

const goalText = (goal: Goal): string => ('atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`)

/** One row for each measured figure, and a sentence for each that fell. `before` has the figures of an earlier server in the same run. */
export function comparisonOf(
  saved: Results,
  measured: Map<FigureName, number>,
  before: Map<FigureName, number> | null = null,
): { head: string[]; rows: string[][]; losses: string[] } {
  const head = ['figure', 'against', ...(before === null ? [] : ['before']), 'measured', 'saved', 'goal', '']
  const losses: string[] = []
  const rows = (Object.keys(goals) as FigureName[]).flatMap((name) => {
    const value = measured.get(name)
    if (value === undefined) return []
    const goal: Goal = goals[name]
    const last = saved[name]
    const loss = last === undefined ? 0 : lossSince(goal, last.value, value)
    if (last !== undefined && loss > lossMax)
      losses.push(`${goal.of} fell by ${Math.round(loss * 100)} %: ${last.value} on ${last.date}, now ${value}.`)
    const earlier = before === null ? [] : [String(before.get(name) ?? '')]
    return [
      [
        goal.of,
        goal.against,
        ...earlier,
        String(value),
        last ? String(last.value) : '',
        goalText(goal),
        isMet(goal, value) ? 'met' : 'short',
      ],
    ]
  })
  return { head, rows, losses }
}
