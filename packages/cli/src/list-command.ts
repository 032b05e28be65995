// The list commands: one call with the query of its options, a table with columns, and a note about the next page.
import type { Callsign } from '@callsign/sdk'
import { type Command, count, type Option, type Values } from './command.ts'
import { table } from './terminal/output.ts'

/** The query of a list. Further fields come from the options with a `field`. */
export type ListQuery = { limit?: number; cursor?: string }

/** Options of every list. */
export const listOptions: Record<string, Option> = {
  limit: { type: 'string', value: 'N', field: 'limit', about: 'Maximum number of items, 1-100.' },
  cursor: { type: 'string', value: 'CURSOR', field: 'cursor', about: 'Cursor from the previous page (next_cursor).' },
}

/** The option of a list that can also start with its oldest item. */
export const oldestOption: Record<'oldest', Option> = { oldest: { type: 'boolean', about: 'Oldest first.' } }

/** The order of such a list, newest first without the option. */
export const orderOf = (values: Values): { order: 'asc' | 'desc' } => ({ order: values.oldest === true ? 'asc' : 'desc' })

/** The query parameters of a list: the given options that have a field. */
export function listQuery(values: Values, options: Record<string, Option> = listOptions): ListQuery {
  const fields = Object.entries(options).flatMap(([name, { field }]) =>
    field === undefined || values[name] === undefined ? [] : [[field, name === 'limit' ? count(values, name) : values[name]]],
  )
  return Object.fromEntries(fields)
}

type Page = { data: unknown[]; next_cursor?: string | null }

type List<P, Item> = Omit<Command, 'run'> & {
  /** Requests the page. */
  call: (client: Callsign, query: ListQuery, positionals: string[], values: Values) => Promise<P>
  /** The rows of the page, when they are not its `data`. */
  items?: (page: P) => Item[]
  /** The cells of an item by heading. */
  columns: Record<string, (item: NoInfer<Item>) => string>
  /** The cursor of the next page, when it is not `next_cursor`. */
  next?: (page: P) => string | null | undefined
}

/** A command that prints one page of a list. */
export function listCommand<P extends object, Item = P extends { data: (infer D)[] } ? D : never>(list: List<P, Item>): Command {
  const { call, columns, items = (page) => (page as Page).data as Item[], next = (page) => (page as Page).next_cursor, ...about } = list
  const options = about.options ?? listOptions
  return {
    ...about,
    options,
    async run({ client, output }, values, positionals) {
      const page = await call(await client(), listQuery(values, options), positionals, values)
      const cellsOf = (item: Item) => Object.values(columns).map((cell) => cell(item))
      output.result(page, (width) => table(Object.keys(columns), items(page).map(cellsOf), width))
      const cursor = next(page)
      if (cursor && !output.isJson) output.note(`More: --cursor ${cursor}`)
      return 0
    },
  }
}
