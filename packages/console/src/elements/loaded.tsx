// Shows the answer of a query, or the state without one.
import type { ComponentChildren } from 'preact'
import type { Query } from '../cache/query.ts'
import { Failure, Loading } from './empty.tsx'

type LoadedProps<T> = { query: Query<T>; children: (data: T) => ComponentChildren }

export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const data = query.data.value
  if (data !== undefined) return <>{children(data)}</>
  return query.error.value ? <Failure error={query.error.value} onRetry={() => void query.reload()} /> : <Loading />
}
