export const pageStyle = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2328; max-width: 1500px; margin: 2rem auto; padding: 0 20px; }
section { border-top: 1px solid #d0d7de; margin-top: 2rem; }
.fact { color: #57606a; margin: 0; font-size: 13px; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px; text-align: right; border-bottom: 1px solid #eaeef2; white-space: nowrap; }
th:first-child, .note { text-align: left; }
.note { color: #57606a; white-space: normal; }
.bars { list-style: none; padding: 0; }
.bars li::before { display: inline-block; width: 1.4em; }
.met::before { content: '✓'; color: #1a7f37; }
.missed::before { content: '✗'; color: #d1242f; }
.unknown::before { content: '–'; }
.charts { display: flex; flex-wrap: wrap; gap: 24px; }
.u-legend { font-size: 12px; max-width: 720px; }
pre { background: #f6f8fa; padding: 12px; overflow: auto; font-size: 12px; }
`;
