// After any removal the list still holds every other entry once.
import { expect, test } from 'vitest'
import { type InFlight, InFlightList } from './in-flight.ts'

const create = (): InFlight => ({ place: 0, check() {}, abort() {}, closeAfter() {} })

test('a removed entry is gone, and all others stay', () => {
  const list = new InFlightList()
  const [first, second, third, fourth] = [create(), create(), create(), create()] as [InFlight, InFlight, InFlight, InFlight]
  for (const one of [first, second, third, fourth]) list.add(one)
  list.delete(second)
  list.delete(second)
  expect(new Set(list.all())).toEqual(new Set([first, third, fourth]))
  list.delete(fourth)
  list.delete(first)
  expect([list.all(), list.size]).toEqual([[third], 1])
  list.add(second)
  list.delete(third)
  list.delete(create())
  expect([list.all(), list.size]).toEqual([[second], 1])
  for (const one of list.all()) list.delete(one)
  expect(list.size).toBe(0)
})
