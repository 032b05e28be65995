// Forms that show the errors of the server at the field that each one names.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Notice } from './badge.tsx'
import { FieldError } from './field-error.ts'
import { PlainText } from './plain-text.tsx'
import { toast } from './toasts.tsx'

type Problem = { path: string; message: string }

/** The errors of one request. The path is empty for an error that does not name a field. */
function problemsOf(error: unknown): Problem[] {
  if (error instanceof FieldError) return [{ path: error.path, message: error.message }]
  const details = error instanceof Error && 'details' in error ? error.details : undefined
  const named = (Array.isArray(details) ? details : []).filter((one): one is Problem => typeof one?.path === 'string' && one.path !== '')
  if (named.length > 0) return named
  return [{ path: '', message: error instanceof Error ? error.message : String(error) }]
}

/** True for the path of the field, and for that of a part of its value, such as `/agent_handles/0`. */
const isAt = (path: string, field: string): boolean => path === field || path.startsWith(`${field}/`)

type FormState = { problems: Problem[]; fields: Set<string> }
const FormContext = createContext<FormState | null>(null)

/** The error of the field with this path in the surrounding form. Without a path there is none. */
export function useFieldError(field: string | undefined): string | null {
  const form = useContext(FormContext)
  useLayoutEffect(() => {
    if (!form || !field) return
    form.fields.add(field)
    return () => void form.fields.delete(field)
  }, [form?.fields, field])
  const problem = field ? form?.problems.find(({ path }) => isAt(path, field)) : undefined
  return problem ? sentence(problem.message) : null
}

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

type FormProps = {
  /** Resolves when the server accepted the input. Its rejection is shown in the form. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
  /** The message after success. */
  done?: string | undefined
  id?: string
  class?: string
  /** Called with true while the input is being sent. */
  onBusy?: (isBusy: boolean) => void
}

export function Form({ onSubmit, children, done, id, class: className = 'stack', onBusy }: FormProps) {
  const element = useRef<HTMLFormElement>(null)
  const fields = useRef(new Set<string>()).current
  const isBusy = useRef(false)
  const [problems, setProblems] = useState<Problem[]>([])
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.current) return
    isBusy.current = true
    onBusy?.(true)
    setProblems([])
    try {
      await onSubmit()
      if (done) toast({ text: done })
    } catch (error) {
      setProblems(problemsOf(error))
    } finally {
      isBusy.current = false
      onBusy?.(false)
    }
  }
  useEffect(() => {
    if (problems.length > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])
  const elsewhere = problems.filter(({ path }) => path === '' || ![...fields].some((field) => isAt(path, field)))
  return (
    <FormContext.Provider value={{ problems, fields }}>
      <form ref={element} id={id} class={className} onSubmit={(event) => void submit(event)}>
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
      </form>
    </FormContext.Provider>
  )
}

/** The name of a field that the form does not show, in words. */
const wordsOf = (path: string): string => path.slice(1).replaceAll('/', ' ').replaceAll('_', ' ')
