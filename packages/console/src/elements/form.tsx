// Forms that show the errors of the server at the field that each one names.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Notice } from './badge.tsx'
import { FieldError } from './field-error.ts'
import { PlainText } from './plain-text.tsx'
import { toast } from './toasts.tsx'

const conflictStatus = 409

type Problem = { path: string; message: string }

/** The errors of one request. The path is empty for an error that does not name a field. A name that is taken is at `conflictPath`. */
function problemsOf(error: unknown, conflictPath: string): Problem[] {
  if (error instanceof FieldError) return [{ path: error.path, message: error.message }]
  const details = error instanceof Error && 'details' in error ? error.details : undefined
  const named = (Array.isArray(details) ? details : []).filter((one): one is Problem => typeof one?.path === 'string' && one.path !== '')
  if (named.length > 0) return named
  const isConflict = error instanceof Error && 'status' in error && error.status === conflictStatus
  return [{ path: isConflict ? conflictPath : '', message: error instanceof Error ? error.message : String(error) }]
}

/** True for the path of the field, and for that of a part of its value, such as `/agent_handles/0`. */
const isAt = (path: string, field: string): boolean => path === field || path.startsWith(`${field}/`)

type FormState = { problems: Problem[]; fields: Set<string> }
const FormContext = createContext<FormState | null>(null)

/** The error of the field with this path in the surrounding form, with its label for its name. Without a path there is none. */
export function useFieldError(field: string | undefined, label: string): string | null {
  const form = useContext(FormContext)
  useLayoutEffect(() => {
    if (!form || !field) return
    form.fields.add(field)
    return () => void form.fields.delete(field)
  }, [form?.fields, field])
  const problem = field ? form?.problems.find(({ path }) => isAt(path, field)) : undefined
  if (!field || !problem) return null
  const name = field.slice(field.lastIndexOf('/') + 1)
  return sentence(problem.message.startsWith(`${name} `) ? label + problem.message.slice(name.length) : problem.message)
}

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

type FieldErrorsProps = { error: unknown; conflictPath?: string; children: ComponentChildren }

/** Shows the errors of a request at the fields that they name, and the others below the fields. */
export function FieldErrors({ error, conflictPath = '', children }: FieldErrorsProps) {
  const fields = useRef(new Set<string>()).current
  const problems = useMemo(() => (error === null ? [] : problemsOf(error, conflictPath)), [error])
  const [elsewhere, setElsewhere] = useState<Problem[]>([])
  // The fields are known once they are rendered.
  useLayoutEffect(
    () => setElsewhere(problems.filter(({ path }) => path === '' || ![...fields].some((field) => isAt(path, field)))),
    [problems],
  )
  return (
    <FormContext.Provider value={{ problems, fields }}>
      {children}
      {elsewhere.length > 0 && (
        <div class="form-errors" role="alert">
          <Notice tone="bad">
            {elsewhere.map(({ path, message }) => (
              <p key={path}>
                <PlainText text={sentence(path === '' ? message : `${wordsOf(path)}: ${message}`)} />
              </p>
            ))}
          </Notice>
        </div>
      )}
    </FormContext.Provider>
  )
}

type FormProps = {
  /** Resolves when the server accepted the input. Its rejection is shown in the form. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
  /** The message after success. */
  done?: string | undefined
  id?: string
  class?: string
  /** The path of the field with a name that has to be unique. */
  conflictPath?: string | undefined
  /** Called with true while the input is being sent. */
  onBusy?: (isBusy: boolean) => void
}

export function Form({ onSubmit, children, done, id, class: className = 'stack', conflictPath, onBusy }: FormProps) {
  const element = useRef<HTMLFormElement>(null)
  const isBusy = useRef(false)
  const [error, setError] = useState<unknown>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.current) return
    isBusy.current = true
    onBusy?.(true)
    setError(null)
    try {
      await onSubmit()
      if (done) toast({ text: done })
    } catch (reason) {
      setError(reason)
    } finally {
      isBusy.current = false
      onBusy?.(false)
    }
  }
  useEffect(() => {
    if (error !== null) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  return (
    <form ref={element} id={id} class={className} onSubmit={(event) => void submit(event)}>
      <FieldErrors error={error} {...(conflictPath ? { conflictPath } : {})}>
        {children}
      </FieldErrors>
    </form>
  )
}

/** The name of a field that the form does not show, in words. */
const wordsOf = (path: string): string => path.slice(1).replaceAll('/', ' ').replaceAll('_', ' ')
