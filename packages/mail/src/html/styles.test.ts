// Styles that hide text, colours, and the rules of style elements.
import { expect, test } from 'vitest'
import { colorOf, isSameColor, mergeStyles, noStyle, readStyle, readStyleSheet, type StyleSheet } from './styles.ts'

test.each([
  'display:none',
  ' DISPLAY : None !important ; color:red',
  'opacity:0',
  'opacity:0.0',
  'opacity:.0',
  'opacity:0.05',
  'opacity:0%',
  'overflow:hidden;max-height:0',
  'overflow:hidden;height:0px',
  'overflow:hidden;max-width:0.00em',
  'overflow:hidden;width:0%',
  'text-indent:-9999px',
  'text-indent:-9999.5',
  'text-indent:-100em',
  'margin-left:-1000pt',
  'position:absolute;left:-9999px',
  'position:fixed;top:-100%',
  'position:absolute;right:-100vw',
  'position:absolute;bottom:-100vh',
  'clip:rect(0,0,0,0)',
  'clip:rect(0px 0px 0px 0px)',
  'display:block;display:none',
  '/* a */display:/* b */none/* c',
  'display:none ! important',
  'text-indent:-9999.55px',
  'opacity:.000',
  'opacity:0.005',
  'opacity:0.0%',
  'clip:rect(0, 0, 0, 0)',
])('%s is gone', (style) => expect(readStyle(style).isGone).toBe(true))

test.each([
  '',
  'display',
  'display:none-x',
  'x-display:none',
  'display:none;display:block',
  'opacity:1',
  'opacity:0.5',
  'opacity:10%',
  'opacity:00',
  'max-height:0',
  'overflow:hidden',
  'overflow:visible;height:0',
  'overflow:hidden;height:10px',
  'overflow:hidden;height:0x',
  'overflow:hidden;height:x0',
  'overflow:hidden;height:0.5px',
  'text-indent:-999px',
  'text-indent:-99em',
  'text-indent:9999px',
  'text-indent:--9999px',
  'text-indent:-9999pxx',
  'text-indent:-100emx',
  'text-indent:x-100em',
  'left:-9999px',
  'position:relative;left:-9999px',
  'position:xabsolute;left:-9999px',
  'position:absolutex;left:-9999px',
  'position:absolute;left:9px',
  'clip:rect(0,0,0,1px)',
  'clip:xrect(0,0,0,0)',
  'clip:rect(0,0,0,0)x',
  'display:no/**/ne',
  'opacity:10.0',
])('%j is not gone', (style) => expect(readStyle(style).isGone).toBe(false))

test('a media query may show elements again, unless their text is out of sight', () => {
  expect(readStyle('display:none', true).isGone).toBe(false)
  expect(readStyle('overflow:hidden;height:0', true).isGone).toBe(false)
  expect(readStyle('opacity:0', true).isGone).toBe(true)
})

test.each([
  ['font-size:0', 'tiny'],
  ['font-size:0px', 'tiny'],
  ['font-size:1px', 'tiny'],
  ['font-size:1.5px', 'normal'],
  ['font-size:.5pt', 'tiny'],
  ['font-size:0.05em', 'tiny'],
  ['font-size:0.1em', 'relative'],
  ['font-size:1em', 'relative'],
  ['font-size:9%', 'tiny'],
  ['font-size:10%', 'relative'],
  ['font-size:0.05rem', 'tiny'],
  ['font-size:0.1rem', 'normal'],
  ['font-size:large', 'normal'],
  ['font-size:1pxx', 'normal'],
  ['font-size:x1px', 'normal'],
  ['font:bold 1px/2 serif', 'tiny'],
  ['font:1px serif', 'tiny'],
  ['font:12px', 'normal'],
  ['font:bold 1px', 'tiny'],
  ['font:x1px serif', undefined],
  ['font:1pxx serif', undefined],
  ['font:serif', undefined],
  ['font:0 serif', 'tiny'],
  ['font-size:0rem', 'tiny'],
  ['font-size:12px;font:1px x', 'normal'],
  ['color:red', undefined],
])('%s: the size is %s', (style, size) => expect(readStyle(style).fontSize).toBe(size))

test.each([
  ['visibility:hidden', true],
  ['visibility:collapse', true],
  ['visibility:visible', false],
  ['color:red', undefined],
])('%s: invisible is %s', (style, isInvisible) => expect(readStyle(style).isInvisible).toBe(isInvisible))

test('colours of text and background', () => {
  expect(readStyle('color:#fff;background:#000')).toMatchObject({ color: '255,255,255', background: '0,0,0' })
  expect(readStyle('background:#000;background-color:white')).toMatchObject({ color: undefined, background: '255,255,255' })
  expect(readStyle('color:')).toMatchObject({ color: 'unknown' })
  expect(readStyle('colorx')).toMatchObject({ color: undefined })
  expect(readStyle('')).toBe(noStyle)
})

test('at most 60 declarations of 4,096 characters count', () => {
  expect(readStyle(`${'a:b;'.repeat(59)}display:none`).isGone).toBe(true)
  expect(readStyle(`${'a:b;'.repeat(60)}display:none`).isGone).toBe(false)
  expect(readStyle(`a:${'b'.repeat(4100)};display:none`).isGone).toBe(false)
})

test.each([
  [' White ', '255,255,255'],
  ['#FFF', '255,255,255'],
  ['#123', '17,34,51'],
  ['#0a141e', '10,20,30'],
  ['#0a141e80', '10,20,30'],
  ['#0a141e00', 'transparent'],
  ['#1230', 'transparent'],
  ['#1238', '17,34,51'],
  ['x#fff', 'unknown'],
  ['#ff', 'unknown'],
  ['rgb(1,2,3)', '1,2,3'],
  ['rgb( 10 20 30 )', '10,20,30'],
  ['rgba(100, 200, 30, 0.5)', '100,200,30'],
  ['rgba(1,2,3,0)', 'transparent'],
  ['rgb(1 2 3 / 0%)', 'transparent'],
  ['rgb(1 2 3 / 50%)', '1,2,3'],
  ['xrgb(1,2,3)', 'unknown'],
  ['rgb(1,2)', 'unknown'],
  ['transparent', 'transparent'],
  ['red', 'unknown'],
  ['', 'unknown'],
])('the colour %j is %s', (text, color) => expect(colorOf(text)).toBe(color))

test.each([
  ['255,255,255', '249,255,255', true],
  ['255,255,255', '248,255,255', false],
  ['249,255,250', '255,255,255', true],
  ['255,255,255', '255,255,248', false],
  ['transparent', 'transparent', false],
  ['0,0,0', 'unknown', false],
  ['unknown', '0,0,0', false],
  ['unknown', 'unknown', false],
  ['0,0,0', 'transparent', false],
])('%s and %s look the same: %s', (one, other, isSame) => expect(isSameColor(one, other)).toBe(isSame))

test('later declarations override earlier ones, but not what hides', () => {
  const [first, second] = [readStyle('display:none;color:#000;visibility:hidden'), readStyle('color:#fff;font-size:0;background:#123')]
  const merged = { isGone: true, isInvisible: true, fontSize: 'tiny', color: '255,255,255', background: '17,34,51' }
  expect(mergeStyles(first, second)).toEqual(merged)
  expect(mergeStyles(second, first)).toEqual({ ...merged, color: '0,0,0' })
})

function sheetOf(css: string): { gone: string[]; responsive: string[]; hasBackgrounds: boolean } {
  const sheet: StyleSheet = { rules: new Map(), responsive: new Set(), hasBackgrounds: false }
  readStyleSheet(css, sheet)
  const gone = [...sheet.rules].filter(([, style]) => style.isGone).map(([name]) => name)
  return { gone, responsive: [...sheet.responsive], hasBackgrounds: sheet.hasBackgrounds }
}

test.each([
  ['.a{display:none}', ['.a'], []],
  ['.a, #b ,p{display:none} .c{color:red}', ['.a', '#b', 'p'], []],
  ['.a .b{display:none}', [], []],
  ['.a:hover{display:none}', [], []],
  ['/* .x{ */.a{display:none}', ['.a'], []],
  ['.a{/* } */display:none}', ['.a'], []],
  ['.x{color:red}/* y */.a{display:none}', ['.a'], []],
  ['.a{display:none}/* .b{display:none}', ['.a'], []],
  ['}.a{display:none}', [], []],
  ['.x{}.a{display:none}', ['.a'], []],
  ['@media (max-width:9px){.a{display:block}.b-c{x:y}} .d{display:none}', ['.d'], ['.a', '.b-c'].map((name) => name.slice(1))],
  ['@media print{.a{b{c}}}.d{display:none}', ['.d'], ['a']],
  ['.a{color:red}.a{display:none}', ['.a'], []],
  ['.a{display:none', [], []],
  ['} .x{} .a{display:none}', ['.a'], []],
  [`.${'a'.repeat(100)}{display:none}.${'b'.repeat(101)}{display:none}`, [`.${'a'.repeat(100)}`], []],
  ['', [], []],
])('%s', (css, gone, responsive) => expect(sheetOf(css)).toEqual({ gone, responsive, hasBackgrounds: false }))

test('a background anywhere is noted', () => expect(sheetOf('.a b{BackGround:red}').hasBackgrounds).toBe(true))

test('the rules of 128 KB count, and 2,000 of them', () => {
  expect(sheetOf(`${' '.repeat(128 * 1024 - 16)}.a{display:none}.b{display:none}`).gone).toEqual(['.a'])
  const many = Array.from({ length: 2_001 }, (_, index) => `.c${index}{display:none}`).join('')
  expect(sheetOf(many).gone).toHaveLength(2_000)
})
