// The client's own id of an object, in creations and replies.
import Type from 'typebox'
import { nullableString } from '../schema.ts'

/** The client's own id of a new thing. A second creation with it returns the same thing. */
export const ClientId = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'Your own id, unique per organization and kind of object. Creating again with it returns the existing object unchanged.',
})

/** The `client_id` of a reply. */
export const clientIdField = nullableString({ description: 'The client_id of the creation.' })
