// Recipient addresses and the mailbox that they belong to.
import { expect, test } from 'vitest'
import { isReservedHandle, mailboxAddressOf, normalizeHandle } from './model.ts'

test('a recipient address is lowered and loses its plus tag', () => {
  expect(mailboxAddressOf('Sales_Bot@Agents.LOCALHOST')).toBe('sales_bot@agents.localhost')
  expect(mailboxAddressOf('sales+invoice+7@agents.localhost')).toBe('sales@agents.localhost')
  expect(mailboxAddressOf('+tag@agents.localhost')).toBe('+tag@agents.localhost')
})

test('a malformed address belongs to no mailbox', () => {
  for (const text of ['', 'sales', '@agents.localhost', 'sales@']) expect(mailboxAddressOf(text), text).toBeNull()
})

test('a handle may be written with an @, and role names are reserved', () => {
  expect(normalizeHandle('@sales')).toBe('sales')
  expect(isReservedHandle('postmaster')).toBe(true)
  expect(isReservedHandle('ident_01m7whmp4pe7rav82722t3d5fc')).toBe(true)
  expect(isReservedHandle('sales')).toBe(false)
})
