// The contract check used by every other test. It rejects answers that the OpenAPI document does not declare.
import { openApiDocument } from '@callsign/contract/openapi'
import { expect, test } from 'vitest'
import { operations } from '../../contract/src/index.ts'
import { type ApiDocument, createContractCheck, type Exchange } from './harness/contract-check.ts'

const document = openApiDocument({ serverUrl: 'http://localhost', version: '1.0.0' }, operations) as unknown as ApiDocument
const check = createContractCheck(document)

const requestId = 'req_01h455vb4pex5vsknk084sn02q'
const headers = (more: Record<string, string> = {}) =>
  new Headers({ 'x-request-id': requestId, 'content-type': 'application/json; charset=utf-8', ...more })
const key = { id: 'key_1', name: 'a', type: 'organization', scopes: [], agent_handle: null, agent_handles: [] }
const me = { user_id: 'user_1', organization_id: 'org_1', organization_name: 'One', role: 'owner', key }
const good: Exchange = { method: 'GET', path: '/api/v1/me', status: 200, headers: headers(), body: me }
const failure = (code: string) => ({ error: { code, message: 'No.', request_id: requestId } })

test('a declared answer passes', () => {
  check(good)
  check({ ...good, path: '/api/v1/nothing', status: 404, body: failure('not_found') })
  check({ ...good, status: 401, body: failure('unauthorized') })
})

test.each<[string, Partial<Exchange>]>([
  ['a missing field', { body: { ...me, role: undefined } }],
  ['a wrong type', { body: { ...me, key: null } }],
  ['a wrong enum', { body: { ...me, role: 'king' } }],
  ['an undeclared status', { status: 201 }],
  ['an undeclared path', { path: '/api/v1/nothing' }],
  ['no request id', { headers: new Headers({ 'content-type': 'application/json' }) }],
  ['no JSON', { headers: headers({ 'content-type': 'text/html' }) }],
  ['an error without a code', { status: 401, body: { error: { message: 'No.', request_id: requestId } } }],
  ['an error code that the status does not have', { status: 401, body: failure('forbidden') }],
  ['an error with a stack', { status: 500, body: { error: { ...failure('internal_error').error, stack: 'at' } } }],
  ['two request ids', { status: 401, body: { error: { ...failure('unauthorized').error, request_id: 'req_other' } } }],
])('%s is refused', (_name, change) => {
  expect(() => check({ ...good, ...change })).toThrow()
})

test('a timestamp must be ISO 8601 in UTC', () => {
  const mailbox = {
    id: 'a',
    email_address: 'a',
    agent_handle: 'a',
    agent_identity_id: 'a',
    display_name: '',
    updated_at: '2026-01-31T09:30:00.000Z',
  }
  const answer = (created_at: string) => () => check({ ...good, path: '/api/v1/mailboxes/a', body: { ...mailbox, created_at } })
  answer('2026-01-31T09:30:00.000Z')()
  for (const bad of ['2026-01-31 09:30:00', '2026-02-31', '2026-13-31T09:30:00.000Z', 'Sat Jan 31 2026'])
    expect(answer(bad)).toThrow('created_at')
})
