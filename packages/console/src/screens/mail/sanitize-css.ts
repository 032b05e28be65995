// Reduces the styles of mail to what neither loads nor covers other parts. The browser's own parser reads them, so that both see the same.

/** Functions that name something to load, and characters that could end the element or hide a function. */
const unsafe = /url|image-set|image\(|src\(|element\(|paint\(|expression|javascript|[<\\]/i

/** Keeps style rules, also those for a medium or a feature. Rules that import, and fonts, are left out. */
export const cleanSheetText = (css: string): string => parse(css).map(cleanRule).join('')

/** The declarations of a style attribute. */
export function cleanDeclarations(css: string): string {
  const [rule] = parse(`x{${css}}`)
  return rule instanceof CSSStyleRule ? cleanStyle(rule.style) : ''
}

/** A sheet that belongs to no document loads nothing, and ignores imports. */
function parse(css: string): CSSRule[] {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  return [...sheet.cssRules]
}

function cleanRule(rule: CSSRule): string {
  if (rule instanceof CSSStyleRule) return unsafe.test(rule.selectorText) ? '' : `${rule.selectorText}{${cleanStyle(rule.style)}}`
  if (!(rule instanceof CSSMediaRule || rule instanceof CSSSupportsRule) || unsafe.test(rule.conditionText)) return ''
  const name = rule instanceof CSSMediaRule ? '@media' : '@supports'
  return `${name} ${rule.conditionText}{${[...rule.cssRules].map(cleanRule).join('')}}`
}

function cleanStyle(style: CSSStyleDeclaration): string {
  for (const name of [...style]) {
    // A variable may be the address of an image elsewhere.
    if (name.startsWith('--') || unsafe.test(style.getPropertyValue(name))) style.removeProperty(name)
  }
  if (/fixed|sticky/.test(style.position)) style.position = 'static'
  return unsafe.test(style.cssText) ? '' : style.cssText
}
