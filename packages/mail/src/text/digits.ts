// Digits of all scripts in use as ASCII digits.

// The zeros of the blocks of ten digits. They are Arabic, Persian and N'Ko, the scripts of India and its neighbours, and full-width forms.
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810,
  0xff10,
]

const otherDigits = new RegExp(`[${zeros.map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`).join('')}]`, 'g')

const digitOf = (digit: string): string => {
  const code = digit.codePointAt(0) as number
  const zero = zeros.findLast((one) => one <= code)
  return zero !== undefined && code - zero < 10 ? String(code - zero) : digit
}

/** The text with ASCII digits. Its length stays. */
export const withAsciiDigits = (text: string): string => text.replace(otherDigits, digitOf)
