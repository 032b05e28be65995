// The format of a hand-made mutant.

/** One deliberate defect, and the test file that must fail with it. */
export type Mutant = {
  /** The defect, as a noun phrase. */
  name: string
  /** Path of the changed file, from the root of the repository. */
  file: string
  /** Source text that occurs exactly once in the file. */
  find: string
  replace: string
  /** Path of the test file that must fail, from the root of the repository. */
  test: string
  /** Only tests whose full name matches this pattern run (`vitest -t`). */
  only?: string
  /** Reason why no test can tell this mutant from the original. A row with a reason is expected to survive. */
  equivalent?: string
}
