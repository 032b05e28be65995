// Writes answers as the schemas of the contract have them: fields that a schema does not name stay here.
import fastJson from 'fast-json-stringify'
import { bareSchema } from './validation.ts'

/** The writer of answers of one schema, compiled for the first of them, as checks are. Throws when a field that it requires is missing. */
export function answerWriter(schema: object): (answer: unknown) => string {
  let write: ReturnType<typeof fastJson> | undefined
  return (answer) => {
    write ??= fastJson(bareSchema(schema))
    return write(answer)
  }
}
