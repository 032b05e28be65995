// The area codes, with their number, their shape and special cases.
import { expect, test } from 'vitest'
import { areaCodesIn, isRegion, isTollFree, regionsOf, tollFreeCodes } from './area-codes.ts'

test('370 codes in the United States and 55 in Canada each belong to one country and have an assignable shape', () => {
  const [us, ca] = [areaCodesIn('US'), areaCodesIn('CA')]
  expect([us.length, ca.length]).toEqual([370, 55])
  expect(us.filter((code) => ca.includes(code))).toEqual([])
  for (const code of [...us, ...ca]) {
    expect(code).toMatch(/^[2-9][0-8]\d$/)
    // N11 are services, 5xx with equal digits personal numbers, 6xx of that kind Canada's non-geographic ones.
    expect(code).not.toMatch(/^(.11|500|521|522|533|544|566|577|588|600|622|633|700|900)$/)
    expect(isTollFree(code)).toBe(false)
  }
})

test('a code leads to its region and back', () => {
  for (const country of ['US', 'CA'] as const) {
    for (const code of areaCodesIn(country)) {
      const regions = regionsOf(country, code)
      expect(regions.length).toBeGreaterThan(0)
      for (const region of regions) expect(areaCodesIn(country, region)).toContain(code)
    }
  }
  expect([regionsOf('US', '212'), regionsOf('US', '415'), regionsOf('CA', '416')]).toEqual([['NY'], ['CA'], ['ON']])
  expect([regionsOf('CA', '902'), regionsOf('CA', '867').toSorted()]).toEqual([
    ['NS', 'PE'],
    ['NT', 'NU', 'YT'],
  ])
  expect([regionsOf('US', '416'), regionsOf('CA', '212'), regionsOf('US', '999')]).toEqual([[], [], []])
})

test('regions belong to the country', () => {
  expect([isRegion('US', 'NY'), isRegion('US', 'DC'), isRegion('CA', 'QC')]).toEqual([true, true, true])
  expect([isRegion('US', 'ON'), isRegion('CA', 'NY'), isRegion('US', 'constructor'), isRegion('US', '')]).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(areaCodesIn('US', 'ZZ')).toEqual([])
})

test('toll-free codes are the ones in use', () => {
  expect(tollFreeCodes()).toEqual(['800', '833', '844', '855', '866', '877', '888'])
  expect([isTollFree('800'), isTollFree('822'), isTollFree('212')]).toEqual([true, false, false])
})
