// Calls by name between the vault page and its worker, in both directions. Arguments, results and errors are copied.
import { ApiError, CallsignError } from '@callsign/sdk'

/** A Worker, or the global scope inside one. */
export type Port = {
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

/** Functions that the other side may call. */
export type Handlers = Record<string, (...values: never[]) => unknown>

type Asked = { call: number; name: string; values: unknown[] }
type Answered = { answer: number; result?: unknown; error?: ErrorFields }
type ErrorFields = { code: string | null; message: string; status?: number; requestId?: string | null; retryAfterMs?: number | null }

/** Answers the other side with `handlers`, and returns a function per name that calls it there. */
export function connectCalls<Remote extends object>(port: Port, handlers: Handlers): Remote {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastCall = 0

  async function answer({ call, name, values }: Asked): Promise<void> {
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (!handler) throw new Error(`The vault has no call named ${name}.`)
      port.postMessage({ answer: call, result: await handler(...(values as never[])) })
    } catch (error) {
      port.postMessage({ answer: call, error: fieldsOf(error) })
    }
  }

  port.addEventListener('message', ({ data }: MessageEvent<Asked | Answered>) => {
    if ('call' in data) return void answer(data)
    const entry = waiting.get(data.answer)
    waiting.delete(data.answer)
    if (data.error) entry?.reject(errorOf(data.error))
    else entry?.resolve(data.result)
  })

  const ask = (name: string, values: unknown[]): Promise<unknown> => {
    const call = ++lastCall
    const entry = Promise.withResolvers<unknown>()
    waiting.set(call, entry)
    port.postMessage({ call, name, values } satisfies Asked)
    return entry.promise
  }
  // A promise looks for `then` on the value that it resolves with.
  const get = (_: object, name: string | symbol) => (name === 'then' ? undefined : (...values: unknown[]) => ask(String(name), values))
  return new Proxy({}, { get }) as Remote
}

function fieldsOf(error: unknown): ErrorFields {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ApiError) {
    const { code, status, requestId, retryAfterMs } = error
    return { code, message, status, requestId, retryAfterMs }
  }
  return { code: error instanceof CallsignError ? error.code : null, message }
}

function errorOf({ code, message, status, requestId = null, retryAfterMs = null }: ErrorFields): Error {
  if (code === null) return new Error(message)
  if (status === undefined) return new CallsignError(code, message)
  return new ApiError({ status, code, message, requestId, details: undefined, retryAfterMs })
}

/** The code of an error of the server or the vault client, or null. */
export const codeOf = (error: unknown): string | null => (error instanceof CallsignError ? error.code : null)
