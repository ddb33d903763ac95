"""How a report looks as HTML: on a wide page, on a phone and on paper, in light and in dark.

No font is embedded: without one for mathematics, browsers put the formulas together from the text's, which was looked
at and can be read. (A subset that lacks the radical sign would show √(1 − ρ²) as 1 − ρ².)
"""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --ink: #1b1b1a; --faint: #62625d; --line: #d9d8d2; --box: #f3f2ec; --link: #0b5394;
  --good: #1a6b3a; --fair: #14627a; --changed: #8a5200; --bad: #a61b1b; --open: #7a2b86;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17181a; --ink: #e6e4df; --faint: #a3a19a; --line: #3b3c3f; --box: #212326; --link: #8ab8ee;
    --good: #74c795; --fair: #6fc3dc; --changed: #e2b062; --bad: #f08c84; --open: #d79be0;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; overflow-wrap: break-word;
}
body > * { max-width: 52rem; margin-inline: auto; }
math {
  font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "TeX Gyre Termes Math", "Noto Sans Math", math;
}
code { font: 0.86em/1.4 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
a { color: var(--link); }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 3rem 0 1rem; padding-top: 0.6rem; border-top: 3px solid; }
h3 { font-size: 1.15rem; line-height: 1.3; margin: 2.2rem 0 0.4rem; }
h4 { font-size: 1rem; margin: 1rem 0 0.2rem; }
h3 .id { font-weight: normal; white-space: nowrap; }
p, ul, dl { margin: 0.4rem 0; }
ul { padding-left: 1.2rem; }
dt { font-weight: bold; }
dd { margin: 0 0 0.4rem 1.2rem; }
.faint { color: var(--faint); font-size: 0.93em; }
.claim { border-top: 1px solid var(--line); }
.claim:first-of-type { border-top: 0; }
.display {
  margin: 0.7rem 0; padding: 0.6rem 0.8rem; background: var(--box); border-left: 3px solid var(--line);
  font-size: 1.08rem; line-height: 1.9; overflow-x: auto;
}
.long { display: inline-block; max-width: 100%; }
.untypeset { white-space: pre-wrap; }
.correction .display { border-left-color: var(--changed); }
.verdict { font-weight: bold; white-space: nowrap; }
.proved, .certified { color: var(--good); }
.supported { color: var(--fair); }
.corrected { color: var(--changed); }
.refuted { color: var(--bad); }
.undecided { color: var(--open); }
.warning { color: var(--bad); font-weight: bold; }
table { width: 100%; border-collapse: collapse; margin: 0.8rem 0; font-size: 0.93em; line-height: 1.4; }
caption { text-align: left; font-weight: bold; padding: 0.3rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.8rem 0.35rem 0; border-top: 1px solid var(--line); }
thead th { font-weight: normal; font-style: italic; color: var(--faint); border-top: 0; }
tbody th { font-weight: normal; }
.part th { padding-top: 0.7rem; font-style: italic; }
.findings { table-layout: fixed; }
.findings thead th:first-child { width: 15%; }
.findings thead th:last-child { width: 25%; }
.nowrap { white-space: nowrap; }
sub, sup { font-size: 0.75em; line-height: 0; }
bdi, a, code { unicode-bidi: isolate; }
summary { cursor: pointer; font-weight: bold; margin: 0.8rem 0; }
figure { margin: 1.2rem 0; }
figure .title { font-weight: bold; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 25rem)); gap: 0.8rem; }
.panels svg { display: block; width: 100%; height: auto; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.1rem 1.2rem; font-size: 0.93em; }
.legend svg { height: 0.7em; margin-right: 0.4em; }
figcaption { font-size: 0.93em; color: var(--faint); }
nav ul { list-style: none; padding-left: 0; }
nav ul ul { padding-left: 1rem; margin: 0.1rem 0 0.6rem; }
@media screen and (max-width: 45rem) {
  body { padding-inline: 0.8rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td, th, caption { display: block; }
  tr { border-top: 1px solid var(--line); padding: 0.5rem 0; }
  td, tbody th { border: 0; padding: 0.1rem 0; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--faint); font-style: italic; }
  td:empty { display: none; }
}
@media screen and (min-width: 78rem) {
  body { display: grid; grid-template-columns: 16rem minmax(0, 52rem); column-gap: 3rem; justify-content: center; }
  body > * { margin: 0; grid-column: 2; }
  nav {
    grid-column: 1; grid-row: 1 / span 9; position: sticky; top: 1.5rem; align-self: start;
    max-height: calc(100vh - 3rem); overflow-y: auto; font-size: 0.88rem;
  }
  nav h2 { margin-top: 0; font-size: 1.1rem; }
}
@media print {
  :root {
    color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #bbb; --box: #f6f6f6; --link: #000;
    --good: #1a6b3a; --fair: #14627a; --changed: #8a5200; --bad: #a61b1b; --open: #7a2b86;
  }
  @page { margin: 18mm 16mm; }
  html { font-size: 9.5pt; }
  body { padding: 0; line-height: 1.35; }
  table { line-height: 1.3; }
  .display { line-height: 1.6; }
  dt, h2, h3, h4, summary, caption, .part, .title, .legend { break-after: avoid; }
  body > * { max-width: none; }
  nav { columns: 2; break-inside: avoid; }
  nav h2 { column-span: all; }
  a { text-decoration: none; }
  tr, figure, .display, li { break-inside: avoid; }
  .display { overflow: visible; }
  .panels { grid-template-columns: repeat(auto-fit, minmax(0, 8.4cm)); }
  summary { list-style: none; }
  details::details-content { content-visibility: visible; height: auto; }
}
"""
