// Holds the style sheet of the page: light and dark, from a phone to a wide screen, without external files.

export const style = `
:root { color-scheme: light dark;
  --bg: #fff; --panel: #f5f6f8; --line: #dfe3e8; --edge: #7d8693; --text: #1b1f24; --soft: #566070; --link: #0a58a8;
  --get: #0a4f97; --get-bg: #e3effb; --post: #14603a; --post-bg: #dff3e7;
  --put: #6f4500; --put-bg: #fcefd6; --delete: #971c28; --delete-bg: #fce6e8;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
@media (prefers-color-scheme: dark) { :root {
  --bg: #111418; --panel: #1a1f26; --line: #2d343e; --edge: #75808f; --text: #e4e8ed; --soft: #a4aebb; --link: #86bdff;
  --get: #9ccbff; --get-bg: #15304e; --post: #8bdcae; --post-bg: #113523;
  --put: #f2ca83; --put-bg: #3c2c0d; --delete: #ffa9af; --delete-bg: #451b20 } }

* { box-sizing: border-box }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--text); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px }
a:hover { text-decoration-thickness: 2px }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px }
p, ul, ol, dl, table, pre { margin: 0 0 1rem }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance }
h1 { margin: 0; font-size: 1.25rem }
h2 { margin: 0 0 1rem; font-size: 1.75rem; letter-spacing: -.01em }
h3 { margin: 0 0 .5rem; font-size: 1.25rem; overflow-wrap: anywhere }
h4 { margin: 1.75rem 0 .5rem; font-size: .875rem; font-weight: 600 }
code, pre { font-family: var(--mono); font-size: .875em; font-variant-ligatures: none }
code { overflow-wrap: anywhere }
th code { overflow-wrap: inherit }
p code, li code, dd code { padding: .1em .3em; border-radius: 4px; background: var(--panel) }
pre { padding: .875rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel);
  font-size: .8125rem; line-height: 1.55; white-space: pre-wrap; overflow-wrap: anywhere }
small { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400 }

.skip { position: absolute; left: .5rem; top: -4rem; padding: .5rem .75rem; background: var(--bg); z-index: 3 }
.skip:focus { top: .5rem }
.top { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: 1rem 1.25rem; border-bottom: 1px solid var(--line) }
.top p { margin: 0; color: var(--soft); font-size: .875rem }
.top p:last-child { margin-left: auto }

nav { padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--bg); font-size: .875rem }
nav summary { padding: .75rem 0; font-weight: 600; cursor: pointer }
nav ul { margin: 0 0 1rem; padding: 0; list-style: none }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem .5rem; border-radius: 5px; color: var(--soft);
  text-decoration: none; overflow-wrap: anywhere }
nav a:hover { color: var(--text); background: var(--panel) }
nav a[aria-current] { color: var(--text); background: var(--panel); box-shadow: inset 2px 0 var(--link) }
nav .group[aria-current] { background: none; box-shadow: none; text-decoration: underline }
nav .group { padding-left: 0; color: var(--text); font-weight: 600 }
nav .group:hover { background: none; text-decoration: underline }
.list { max-height: 70vh; overflow: auto; overscroll-behavior: contain; padding-bottom: 1rem }
.filter { padding: 0 0 .75rem }
.filter label { display: block; color: var(--soft) }
.filter input { width: 100%; padding: .45rem .6rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--bg);
  color: inherit; font: inherit; font-size: 1rem }
.filter output { display: block; min-height: 1.4em; color: var(--soft); font-size: .8125rem }
[hidden] { display: none !important }

.m { display: inline-block; padding: .1rem .45rem; border-radius: 4px; font: 600 .75rem/1.5 var(--mono) }
nav .m { flex: none; width: 3.1rem; padding: 0; background: none; font-size: .6875rem; line-height: inherit }
.GET { color: var(--get); background: var(--get-bg) }
.POST { color: var(--post); background: var(--post-bg) }
.PUT { color: var(--put); background: var(--put-bg) }
.DELETE { color: var(--delete); background: var(--delete-bg) }
.scope { padding: .1rem .45rem; border: 1px solid var(--line); border-radius: 4px; font: 600 .8125rem/1.5 var(--mono) }

main { padding: 2rem 1.25rem 6rem }
main > section + section { margin-top: 4rem; padding-top: 3rem; border-top: 1px solid var(--line) }
.topic, .schema { margin-top: 2.5rem }
article + article { margin-top: 3rem; padding-top: 3rem; border-top: 1px solid var(--line) }
.self { color: inherit; text-decoration: none }
.self:hover { text-decoration: underline }
article:target .self, .topic:target .self, .schema:target .self { color: var(--link) }
.path { display: flex; gap: .6rem; align-items: baseline; margin-bottom: .75rem }
.path code { padding: 0; background: none; font-weight: 600 }
.path span { color: var(--soft); font-weight: 400 }
.summary { font-size: 1.0625rem }
.users { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere }
dl { font-size: .9375rem }
dl { display: grid; grid-template-columns: minmax(7.5rem, auto) 1fr; gap: .5rem .75rem }
dl div { display: contents }
dt { color: var(--soft) }
dd { margin: 0 }
.errors { display: flex; flex-wrap: wrap; gap: .375rem; padding: 0; list-style: none; font-size: .8125rem }
.errors a { display: block; padding: .2rem .55rem; border: 1px solid var(--line); border-radius: 99px; color: var(--soft); text-decoration: none }
.errors a:hover { border-color: var(--edge); color: var(--text) }
.errors b { color: var(--text); font-weight: 600 }

table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.5 }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: break-word }
td a, td:last-child { overflow-wrap: anywhere }
thead th { padding-top: 0; color: var(--soft); font-size: .8125rem; font-weight: 500 }
tbody th { width: 30%; font-weight: 600 }
td:nth-child(2) { width: 30% }
td code { font-size: .8125em }
.statuses tbody th { width: 4.5rem }
.config th, .config td { padding-block: .3rem }
.config tbody th { width: 36% }
.config td:nth-child(2) { width: 16% }
tr:target { background: var(--panel) }

.request { position: relative }
.request button { position: absolute; right: 0; top: -.4rem; padding: .2rem .6rem; border: 1px solid var(--edge); border-radius: 5px; background: none; color: var(--soft);
  font: inherit; font-size: .75rem; font-weight: 400; cursor: pointer }
.request button:hover { color: var(--text); background: var(--panel) }

@media (max-width: 59.99rem) {
  .js nav { position: sticky; top: 0; z-index: 2 }
  .js { scroll-padding-top: 4rem } }
@media (max-width: 30rem) {
  table, dl { font-size: .875rem }
  .statuses tbody th { width: 3rem } }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto }
  nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow: auto; overscroll-behavior: contain; scrollbar-width: thin;
    padding: 1.25rem 1rem 2rem 1.25rem; border: 0; border-right: 1px solid var(--line) }
  nav summary { display: none }
  .list { max-height: none; overflow: visible }
  .filter input { font-size: .875rem }
  main { padding: 2.5rem 2.5rem 8rem }
  .topic, .schema, #start > p, #schemas > p { max-width: 48rem } }
@media (min-width: 80rem) {
  article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 3rem }
  .request h4 { margin-top: .25rem } }
@media print { nav, .skip, button { display: none } article { break-inside: avoid-page } }
`
