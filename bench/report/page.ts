import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { formatValue } from '../result/format-value.ts';
import type { Bar, ResultRow } from '../result/result.ts';
import { isBarMet } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { chartsOf, drawChartsScript } from './charts.ts';
import { describeTrouble } from '../machine/describe-trouble.ts';
import { figureNames, formatAsk } from './table.ts';

/** A self-contained HTML page with the tables, bars and charts of results. */
export async function renderPage(results: readonly StoredResult[]): Promise<string> {
  const require = createRequire(import.meta.url);
  const [plotScript, plotStyle] = await Promise.all([
    readFile(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8'),
    readFile(require.resolve('uplot/dist/uPlot.min.css'), 'utf8'),
  ]);
  const title = `Sluice bench: ${results.map(({ scenario }) => scenario).join(', ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${plotStyle}${pageStyle}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${results.map(renderResult).join('\n')}
<script type="application/json" id="charts">${embedJson(results.flatMap((result, at) => chartsOf(result, at)))}</script>
<script>${plotScript}</script>
<script>${drawChartsScript}</script>
</body>
</html>
`;
}

function renderResult(result: StoredResult, at: number): string {
  const { machine, settings, advice = [], failures = [] } = result;
  const { disk } = machine;
  const trouble = describeTrouble(machine);
  const facts = [
    `${result.at.slice(0, 16).replace('T', ' ')} UTC, took ${formatValue(result.tookS, 's')}${result.isQuick ? ', a quick run: do not quote it' : ''}`,
    `${machine.cores} cores (${machine.cpu}), ${machine.memoryGiB} GiB, ${machine.os}, Node ${machine.node}, nats-server ${machine.natsServer}, revision ${machine.revision}`,
    ...(trouble === undefined ? [] : [trouble]),
    `fdatasync of 4 KiB: p50 ${formatValue(disk.p50, 'ms')}, p90 ${formatValue(disk.p90, 'ms')}, p99 ${formatValue(disk.p99, 'ms')}`,
  ];
  return `<section>
<h2>${escapeHtml(result.scenario)}</h2>
<p>${escapeHtml(result.summary)}</p>
${facts.map((fact) => `<p class="fact">${escapeHtml(fact)}</p>`).join('\n')}
${failures.map((failure) => `<p class="missed">${escapeHtml(failure)}</p>`).join('\n')}
${renderBarList(result.bars, result.measured)}
${renderRows(result.rows)}
${advice.length === 0 ? '' : `<pre>${escapeHtml(advice.join('\n'))}</pre>`}
<div class="charts" data-result="${at}"></div>
<details><summary>Settings and versions</summary>
<pre>${escapeHtml(JSON.stringify({ settings, packages: machine.packages }, undefined, 2))}</pre></details>
</section>`;
}

function renderBarList(bars: readonly Bar[], measured: Readonly<Record<string, number>>): string {
  const items = bars.map((bar) => {
    const value = measured[bar.id];
    if (value === undefined) return `<li class="unknown">${escapeHtml(bar.text)}: not measured</li>`;
    const said = `${bar.text}: ${formatValue(value, bar.unit)} (asked ${formatAsk(bar)})`;
    return `<li class="${isBarMet(bar, value) ? 'met' : 'missed'}">${escapeHtml(said)}</li>`;
  });
  return `<ul class="bars">${items.join('')}</ul>`;
}

function renderRows(rows: readonly ResultRow[]): string {
  const names = figureNames(rows);
  const head = ['', ...names, ''].map((name) => `<th>${escapeHtml(name)}</th>`).join('');
  const lines = rows.map((row) => {
    const cells = names.map((name) => {
      const figure = row.figures[name];
      return `<td>${figure === undefined ? '' : escapeHtml(formatValue(figure.value, figure.unit))}</td>`;
    });
    return `<tr><th>${escapeHtml(row.name)}</th>${cells.join('')}<td class="note">${escapeHtml(row.note ?? '')}</td></tr>`;
  });
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

const pageStyle = `
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

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Serialises a value as JSON that cannot end the script element around it. */
export function embedJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', String.raw`\u003c`)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`);
}
