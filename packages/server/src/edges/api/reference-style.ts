// The style sheet of the reference page, light and dark.

/** Inserted into the page unescaped, so it must not contain `<`. */
export const referenceStyle = `
:root { --text: #1c2024; --quiet: #60646c; --line: #e0e1e6; --ground: #ffffff; --side: #f7f7f9; --link: #0b62c4;
  --get: #0b62c4; --post: #18794e; --patch: #9a5b00; --put: #9a5b00; --delete: #c62a2f; }
@media (prefers-color-scheme: dark) { :root { --text: #edeef0; --quiet: #a3a8b0; --line: #33363b; --ground: #111214; --side: #18191b;
  --link: #74b3ff; --get: #74b3ff; --post: #4fd08b; --patch: #ffc45c; --put: #ffc45c; --delete: #ff8f8f; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); color: var(--text); background: var(--ground);
  font: 15px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem; background: var(--side); border-right: 1px solid var(--line); }
nav .home { font-weight: 700; font-size: 1.1rem; color: var(--text); }
nav h2 { margin: 1.25rem 0 .25rem; font-size: .75rem; letter-spacing: .05em; text-transform: uppercase; color: var(--quiet); }
nav ul { list-style: none; margin: 0; padding: 0; font-size: .875rem; }
nav li { padding: .1rem 0; overflow-wrap: anywhere; }
nav .method { display: inline-block; width: 3.4rem; font-size: .65rem; }
main { padding: 2rem 2.5rem 6rem; max-width: 60rem; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--quiet); }
main > h2 { margin: 3rem 0 0; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
section { padding: 1rem 0; }
h3 { margin: .5rem 0; font-size: 1.05rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 .25rem; font-size: .875rem; color: var(--quiet); }
code { font: .875em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.method { font: 700 .75rem ui-monospace, monospace; color: var(--quiet); }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .put { color: var(--put); } .delete { color: var(--delete); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th { width: 14rem; font-weight: 400; }
th em { color: var(--delete); font-size: .75rem; font-style: normal; }
small { color: var(--quiet); overflow-wrap: anywhere; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; border-right: 0;
  border-bottom: 1px solid var(--line); } main { padding: 1.25rem; } th { width: 8rem; } }
`
