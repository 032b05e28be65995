// The types of the API reference beyond the schemas.

export type OperationDetails = {
  /** Effects and limits of the operation, and remedies for its errors. CommonMark. */
  description: string
  /** Present if only organization keys may call it. Other operations also take the key of the agent that they name. */
  keys?: 'organization'
  /** The values of the example request, by name. Parameters of the path that are missing here come from `pathSamples`. */
  params?: Record<string, string>
  query?: Record<string, string | number | boolean>
  body?: Record<string, unknown>
  /** Fields of the example reply that differ from the sample of its schema. */
  reply?: Record<string, unknown>
  /**
   * The call of the SDK. `$body` and `$query` stand for the example values, and `$` with the name of a parameter for its value. Absent for
   * operations that are not for clients.
   */
  sdk?: string
  /** The call of the Python client, where it cannot be made from `sdk`. Absent with such an `sdk` if Python has no method. */
  python?: string
  /** The command line. Absent if the CLI has no such command. */
  cli?: string
}

/** One example in one language, as the OpenAPI extension `x-codeSamples` has it. */
export type CodeSample = {
  lang: 'Shell' | 'TypeScript' | 'Python'
  label: 'curl' | 'TypeScript' | 'Python' | 'CLI'
  source: string
}
