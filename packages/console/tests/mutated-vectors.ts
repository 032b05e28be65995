// Mutations of hostile HTML, the same in every run: shapes that parsers read differently the second time, spliced, nested, split and disguised.
import { hostileCases } from './hostile-cases.ts'

/** A generator of numbers from 0 to 1 (mulberry32), so that a failure can be repeated. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const image = '<img src=x onerror=hit()>'

/** Markup that changes its meaning when it is written and parsed again: foreign content, raw text, and misnested tables and forms. */
const shapes = [
  `<form><math><mtext></form><form><mglyph><style></math>${image}`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=hit()&gt;">`,
  `<svg></p><style><a id="</style>${image}">`,
  `<svg><style>${image}</style></svg>`,
  `<math><annotation-xml encoding="text/html"><style>${image}</style></annotation-xml></math>`,
  `<noscript><p title="</noscript>${image}">`,
  `<xmp><p title="</xmp>${image}">`,
  `<style><p title="</style>${image}">`,
  `<style></xmp>${image}</style>`,
  `<xmp></style>${image}</xmp>`,
  `<svg><xmp><style>${image}`,
  `<title><p title="</title>${image}">`,
  `<textarea><p title="</textarea>${image}">`,
  `<iframe><p title="</iframe>${image}">`,
  `<noembed><p title="</noembed>${image}"></noembed>`,
  `<plaintext></plaintext>${image}`,
  `<select><option><style></select>${image}</style>`,
  `<table><td><a href="1"><table><a href="javascript:hit()">x</a>`,
  `<template><style></template>${image}</style>`,
  `<p id="a" name="b" style="x:y" style="a:expression(hit())" onclick=hit()>x</p>`,
  `<a href="java&#x0A;script:hit()" autofocus onfocus=hit()>x</a>`,
  `<div style="a:'</style>${image}'">x</div>`,
  `<![CDATA[<p title="]]>${image}">`,
  `<!--><p title="-->${image}">`,
  `<?xml-stylesheet ><p title="?>${image}">`,
  `<math><mi><style><a title="</style>${image}"></style></mi></math>`,
  `<details open ontoggle=hit()><summary>x</summary></details>`,
  `<body onpageshow=hit()><video><source onerror=hit()></video>`,
]

const wrappers =
  'svg math table select template noscript style xmp title form p a b div mtext mglyph foreignObject desc annotation-xml'.split(' ')
const inserts = [
  '<!--',
  '-->',
  '</style>',
  '</xmp>',
  '</svg>',
  '</math>',
  '<style>',
  '<xmp>',
  '</p>',
  '<table>',
  ']]>',
  '<![CDATA[',
  '"',
  "'",
  '`',
  '>',
  '<',
  '\0',
  '\n',
  '&lt;',
  '&#x3c;',
  '<br/',
  ' style=',
  '/*',
  '*/',
]

type Pick = <T>(from: readonly T[]) => T
type Mutator = (html: string, random: () => number, pick: Pick) => string

const at = (html: string, random: () => number): number => Math.floor(random() * (html.length + 1))

const mutators: Mutator[] = [
  (html, _, pick) => {
    const tag = pick(wrappers)
    return `<${tag}>${html}</${tag}>`
  },
  (html, _, pick) => `<${pick(wrappers)}><${pick(wrappers)}>${html}`,
  (html, random, pick) => {
    const place = at(html, random)
    return html.slice(0, place) + pick(inserts) + html.slice(place)
  },
  (html, random) => {
    const place = at(html, random)
    return html.slice(0, place) + html.slice(place + 1 + Math.floor(random() * 3))
  },
  (html, random) => [...html].map((one) => (random() < 0.3 ? one.toUpperCase() : one)).join(''),
  (html, random) => html.replace(/</g, (one) => (random() < 0.2 ? '&lt;' : one)),
  (html, random) => html.replace(/ (\w+)=/g, (whole, name: string) => (random() < 0.4 ? `/${name}\t=\n` : whole)),
  (html, _, pick) => html.replace(/<\/?([a-z]+)/i, (whole, name: string) => whole.replace(name, pick(wrappers))),
  (html) => html + html,
]

/** `count` mutated vectors. Each is one or two attacks, mutated one to five times. */
export function mutatedVectors(count: number, seed = 1): string[] {
  const random = numbers(seed)
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as (typeof from)[number]
  const base = [...shapes, ...shapes, ...hostileCases.map(({ html }) => html)]
  return Array.from({ length: count }, () => {
    let html = pick(base)
    if (random() < 0.4) {
      const other = pick(base)
      html = html.slice(0, at(html, random)) + other.slice(at(other, random))
    }
    for (let times = 1 + Math.floor(random() * 5); times > 0; times--) html = pick(mutators)(html, random, pick)
    return html
  })
}
