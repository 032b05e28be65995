// Prints one line per step, and remembers failures.

/** Steps that failed so far. */
let failures = 0

/** Runs a step and prints its result. A step fails by throwing. */
export async function step(what: string, run: () => Promise<string | undefined> | string | undefined): Promise<void> {
  try {
    const more = await run()
    console.log(`ok      ${what}${more ? `: ${more}` : ''}`)
  } catch (error) {
    failures++
    console.log(`FAILED  ${what}: ${(error as Error).message}`)
  }
}

/** Throws with the sentence unless the condition holds. */
export function must(isTrue: boolean, sentence: string): void {
  if (!isTrue) throw new Error(sentence)
}

export const failedSteps = (): number => failures
