// The custom headers of a webhook, as a person writes them.
import { expect, test } from 'vitest'
import { parseHeaders } from './webhook-headers.ts'

test('one header per line, with colons in the value', () => {
  expect(parseHeaders('Authorization: Bearer a:b\n\n X-Team :mail ')).toEqual({ Authorization: 'Bearer a:b', 'X-Team': 'mail' })
})

test('a line without a name is refused with its text', () => {
  expect(() => parseHeaders('X-Team: mail\nBearer abc')).toThrow('Write the header "Bearer abc" as Name: value.')
})
