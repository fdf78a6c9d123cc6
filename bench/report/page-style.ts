export const pageStyle = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #57606a; --rule: #d0d7de; --well: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --rule: #30363d; --well: #161b22; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1500px; margin: 2rem auto; padding: 0 20px; }
h1 { font-size: 1.6rem; }
section { border-top: 1px solid var(--rule); margin-top: 2rem; }
.fact { color: var(--faint); margin: 0; font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, .note { text-align: left; }
th:first-child { white-space: normal; min-width: 9em; }
.note { color: var(--faint); white-space: normal; }
.bars { list-style: none; padding: 0; }
.bars li::before { display: inline-block; width: 1.4em; }
.met::before { content: '✓'; color: #1a7f37; }
.missed::before { content: '✗'; color: #d1242f; }
.unknown::before { content: '–'; }
.charts { display: flex; flex-wrap: wrap; gap: 24px; }
.u-legend { font-size: 12px; max-width: 660px; }
pre { background: var(--well); padding: 12px; overflow: auto; font-size: 12px; }
`;
