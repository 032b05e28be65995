// The row of a settings table, and the area that a table belongs to.

type Row<T, Fallback extends string | null> = {
  name: string
  /** Text used when the variable is absent. Null makes the setting itself null. */
  fallback: Fallback
  /** Text that the documentation prints for a computed default. */
  shown?: string
  sentence: string
  /** True when NAME_FILE may name a file with the value. The value is then never printed. */
  secret?: boolean
  /** Returns the value, or throws an Error with the rest of a sentence that begins with the name. */
  read: (text: string) => T
}

export type Setting<T> = Row<T, string | null>

/** A setting without a default may be null. */
export function setting<T>(row: Row<T, string>): Setting<T>
export function setting<T>(row: Row<T, null>): Setting<T | null>
export function setting<T>(row: Setting<T>): Setting<T> {
  return row
}

export type Settings = Record<string, Setting<unknown>>
export type Values<S> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never }

/** `Other` has the settings of other areas that `check` reads. */
export type Area<S, Other = unknown> = {
  /** Heading in docs/configuration.md. */
  title: string
  settings: S
  /** Returns a sentence when values of the area contradict or need one another, else null. */
  check?: (values: Values<S> & Other) => string | null
}

export const area = <S extends Settings>(one: Area<S>): Area<S> => one
