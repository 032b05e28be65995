// Control words of RTF whose groups have no text, those that stand for a character, and code pages by the charset of a font.

/** Groups that start with one of these are left out. */
export const destinationWords: ReadonlySet<string> = new Set(
  [
    'fonttbl colortbl stylesheet info pict object objdata fldinst nonshppict',
    'header headerl headerr headerf footer footerl footerr footerf',
    'listtable listoverridetable revtbl rsidtbl filetbl xmlnstbl latentstyles',
    'generator themedata colorschememapping datastore mmathPr',
    'bkmkstart bkmkend annotation atnid atnauthor tc xe',
  ].flatMap((words) => words.split(' ')),
)

export const symbolWords: Readonly<Record<string, string>> = {
  tab: '\t',
  emdash: '—',
  endash: '–',
  emspace: ' ',
  enspace: ' ',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
}

const codePages: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
}

/** The code page of a document by its control word (RTF 1.9.1, character set). */
export const documentCodePages: Readonly<Record<string, number>> = { ansi: 1252, mac: 10000, pc: 437, pca: 850 }

/** The code page of \fcharset. Western and unknown charsets have the one of the document. */
export const codePageOfCharset = (charset: number, documentCodePage: number): number => codePages[charset] ?? documentCodePage
