// Tables of moderate length. Long lists use VirtualList. On a phone each row is a list of its cells.
import type { ComponentChildren } from 'preact'

export type Column<T> = {
  title: string
  cell: (item: T) => ComponentChildren
  isNumber?: boolean
  /** Hidden on narrow screens. */
  isMinor?: boolean
}

type TableProps<T> = { name: string; columns: Column<T>[]; items: T[]; keyOf: (item: T) => string }

const cellClass = <T,>({ isNumber, isMinor }: Column<T>): string => [isNumber ? 'number' : '', isMinor ? 'hide-small' : ''].join(' ').trim()

export function Table<T>({ name, columns, items, keyOf }: TableProps<T>) {
  return (
    <div class="table-scroll">
      <table class="table" aria-label={name}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map((column) => (
                <td key={column.title} class={cellClass(column)} data-title={column.title}>
                  {column.cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
