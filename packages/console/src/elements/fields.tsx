// Form fields with a label, a hint and an error.
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useFieldError } from './form.tsx'
import { PlainText } from './plain-text.tsx'

type FieldProps = {
  label: string
  /** The path of the value in the request, such as `/url`. Errors of the server at this path are shown at the field. */
  path?: string
  hint?: ComponentChildren
  error?: string | null | undefined
  /** Keeps the label for screen readers only. */
  isLabelHidden?: boolean
}

type Control = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }

function Field(props: FieldProps & { children: (control: Control) => ComponentChildren }) {
  const { label, path, hint, isLabelHidden, children } = props
  const id = useId()
  const refused = useFieldError(path, label)
  const error = props.error ?? refused
  const note = hint || error ? `${id}-note` : undefined
  return (
    <div class="field">
      <label class={isLabelHidden ? 'visually-hidden' : 'label'} for={id}>
        {label}
      </label>
      {children({ id, ...(note ? { 'aria-describedby': note } : {}), ...(error ? { 'aria-invalid': true } : {}) })}
      {note && (
        <span id={note} class={error ? 'error' : 'hint'}>
          {error ? <PlainText text={error} /> : hint}
        </span>
      )}
    </div>
  )
}

/**
 * Puts the cursor into the field once it is shown. Browsers ignore the attribute `autofocus` when something else has the focus already. A
 * dialog moves the focus when it opens, and honors the attribute.
 */
function useFocus<T extends HTMLElement>(isWanted = false): RefObject<T | null> {
  const element = useRef<T>(null)
  useLayoutEffect(() => {
    if (isWanted) element.current?.focus()
  }, [])
  return element
}

type TextFieldProps = FieldProps & {
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'email' | 'password' | 'search' | 'number' | 'date'
  placeholder?: string
  autoComplete?: string
  required?: boolean
  autoFocus?: boolean
  isMono?: boolean
}

export function TextField(props: TextFieldProps) {
  const { value, onInput, type = 'text', placeholder, autoComplete = 'off', required, autoFocus, isMono } = props
  const element = useFocus<HTMLInputElement>(autoFocus)
  return (
    <Field {...props}>
      {(control) => (
        <input
          {...control}
          ref={element}
          class={`input${isMono ? ' mono' : ''}`}
          type={type as 'text'}
          value={value}
          placeholder={placeholder}
          autoComplete={autoComplete}
          required={required}
          // biome-ignore lint/a11y/noAutofocus: set only on the first field of a dialog or page that the person opened
          autoFocus={autoFocus}
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type TextAreaProps = FieldProps & { value: string; onInput: (value: string) => void; rows?: number; isMono?: boolean; autoFocus?: boolean }

export function TextArea(props: TextAreaProps) {
  const { value, onInput, rows = 6, isMono, autoFocus } = props
  const element = useFocus<HTMLTextAreaElement>(autoFocus)
  return (
    <Field {...props}>
      {(control) => (
        <textarea
          {...control}
          ref={element}
          class={`input${isMono ? ' mono' : ''}`}
          rows={rows}
          value={value}
          // biome-ignore lint/a11y/noAutofocus: set only on the first field of a dialog or page that the person opened
          autoFocus={autoFocus}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type SelectProps<T extends string> = FieldProps & {
  value: T
  options: readonly { value: T; label: string }[]
  onChange: (value: T) => void
}

export function Select<T extends string>(props: SelectProps<T>) {
  const { value, options, onChange } = props
  return (
    <Field {...props}>
      {(control) => (
        <select {...control} class="input" value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type CheckboxProps = { label: ComponentChildren; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean }

export function Checkbox({ label, checked, onChange, disabled }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

type ChoicesProps<T> = {
  title: string
  /** As of other fields. */
  path?: string
  note?: string | undefined
  all: readonly T[]
  chosen: T[]
  labelOf: (one: T) => string
  onChange: (chosen: T[]) => void
}

/** A group of checkboxes. */
export function Choices<T extends string>({ title, path, note, all, chosen, labelOf, onChange }: ChoicesProps<T>) {
  const error = useFieldError(path, title)
  return (
    <fieldset class="stack">
      <legend class="label">{title}</legend>
      {error && (
        <span class="error">
          <PlainText text={error} />
        </span>
      )}
      {note && <span class="hint">{note}</span>}
      {all.map((one) => (
        <Checkbox
          key={one}
          label={labelOf(one)}
          checked={chosen.includes(one)}
          onChange={(isOn) => onChange(isOn ? [...chosen, one] : chosen.filter((other) => other !== one))}
        />
      ))}
    </fieldset>
  )
}
