// The style sheet of the reference page, light and dark.

/** Inserted into the page unescaped, so it must not contain `<`. */
export const referenceStyle = `
:root { --text: #1c2024; --quiet: #5b6069; --line: #e0e1e6; --ground: #ffffff; --side: #f7f7f9; --code: #f4f5f7; --link: #0b62c4;
  --get: #0b62c4; --post: #18794e; --patch: #8a5100; --put: #8a5100; --delete: #c62a2f; }
@media (prefers-color-scheme: dark) { :root { --text: #edeef0; --quiet: #a3a8b0; --line: #33363b; --ground: #111214; --side: #18191b; --code: #1b1d20;
  --link: #74b3ff; --get: #74b3ff; --post: #4fd08b; --patch: #ffc45c; --put: #ffc45c; --delete: #ff8f8f; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); color: var(--text); background: var(--ground);
  font: 15px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: 1rem; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem; background: var(--side); border-right: 1px solid var(--line); }
nav .home { font-weight: 700; font-size: 1.1rem; color: var(--text); }
nav form { margin: .9rem 0 1rem; }
nav input { width: 100%; padding: .4rem .6rem; font: inherit; font-size: .875rem; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; font-size: .875rem; }
nav ul ul { margin: .15rem 0 .6rem; padding-left: .6rem; border-left: 1px solid var(--line); font-size: .8rem; }
nav li { padding: .12rem 0; overflow-wrap: anywhere; }
nav li a { color: var(--text); } nav li a[aria-current] { font-weight: 650; color: var(--link); }
nav .method { display: inline-block; width: 3.1rem; font-size: .62rem; }
main { padding: 2rem 2.5rem 6rem; max-width: 90rem; }
h1 { margin: 0 0 .5rem; font-size: 1.7rem; line-height: 1.2; } h1 small { font-size: 1rem; font-weight: 400; }
.lead { max-width: 46rem; font-size: 1.05rem; color: var(--quiet); }
section { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, .8fr); gap: 0 2.5rem; padding: 2rem 0; border-top: 1px solid var(--line); }
.about { max-width: 46rem; }
h2 { margin: .25rem 0 .5rem; font-size: 1.1rem; line-height: 1.35; } h2 a { color: inherit; }
.about h2:not(:first-child) { margin-top: 1.5rem; }
.route { margin: 0; overflow-wrap: anywhere; } .keys { margin: .1rem 0 .75rem; font-size: .85rem; color: var(--quiet); }
h3, summary { margin: 1.25rem 0 .25rem; font-size: .8rem; font-weight: 650; letter-spacing: .03em; color: var(--quiet); }
summary { cursor: pointer; }
code { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
figure { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--code); overflow: hidden; }
figcaption { display: flex; gap: 1rem; padding: .45rem .9rem; font-size: .8rem; border-bottom: 1px solid var(--line); }
figcaption strong { color: var(--text); } figure p { padding: 0 .9rem; color: var(--quiet); }
pre { margin: 0; padding: .8rem .9rem; max-height: 32rem; overflow: auto; font-size: .85rem; } pre code { font-size: inherit; overflow-wrap: normal; }
.example { position: sticky; top: 1rem; align-self: start; min-width: 0; }
.method { font: 700 .75rem ui-monospace, monospace; color: var(--quiet); }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .put { color: var(--put); } .delete { color: var(--delete); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
tr:target { background: var(--code); }
th { width: 13rem; font-weight: 400; }
th em { color: var(--delete); font-size: .75rem; font-style: normal; }
small { color: var(--quiet); overflow-wrap: anywhere; }
dl { max-width: 52rem; } dt { margin-top: .8rem; } dd { margin: .1rem 0 0; color: var(--quiet); overflow-wrap: anywhere; }
@media (max-width: 70rem) { section { display: block; } .example { position: static; margin-top: 1.25rem; } }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; border-right: 0;
  border-bottom: 1px solid var(--line); } main { padding: 1.25rem; } th { width: 8rem; } }
`
