// Serializes answers by the schemas of the contract. Fields that a schema does not name are dropped.
import fastJson from 'fast-json-stringify'
import { bareSchema } from './input/validation.ts'

/** The serializer of one schema, compiled on first use, as checks are. Throws when a required field is missing. */
export function answerWriter(schema: object): (answer: unknown) => string {
  let write: ReturnType<typeof fastJson> | undefined
  return (answer) => {
    write ??= fastJson(bareSchema(schema))
    return write(answer)
  }
}
