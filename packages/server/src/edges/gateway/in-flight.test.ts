// The list of what is under way: whatever is removed, everything else stays in it once.
import { expect, test } from 'vitest'
import { type UnderWay, UnderWayList } from './in-flight.ts'

const create = (): UnderWay => ({ place: 0, check() {}, abort() {}, closeAfter() {} })

test('what is removed is gone, and everything else stays', () => {
  const list = new UnderWayList()
  const [first, second, third, fourth] = [create(), create(), create(), create()] as [UnderWay, UnderWay, UnderWay, UnderWay]
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
