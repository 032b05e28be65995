// The errors of a request.
import { expect, test } from 'vitest'
import { ApiError, forbidden, invalid, notFound } from './errors.ts'

const fields = ({ name, code, status, message, details, headers }: ApiError) => ({ name, code, status, message, details, headers })

test.each([
  [() => invalid('/to', 'to is required'), 'validation_error', 400, 'to is required', [{ path: '/to', message: 'to is required' }]],
  [() => notFound('thread'), 'not_found', 404, 'No such thread.', undefined],
  [() => forbidden('No.'), 'forbidden', 403, 'No.', undefined],
  [() => new ApiError('not_found', 'x', { status: 400 }), 'not_found', 400, 'x', undefined],
])('%s', (make, code, status, message, details) => {
  expect(fields(make())).toEqual({ name: 'ApiError', code, status, message, details, headers: {} })
})

test('headers of an error are kept', () => {
  expect(new ApiError('rate_limited', 'x', { headers: { 'retry-after': '1' } }).headers).toEqual({ 'retry-after': '1' })
})
