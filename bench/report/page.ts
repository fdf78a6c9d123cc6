import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { formatValue } from '../result/format-value.ts';
import { isBarMet } from '../result/result.ts';
import type { Bar, ResultRow } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { chartsOf } from './charts.ts';
import { drawChartsScript } from './draw-charts.ts';
import { embedJson, escapeHtml } from './html.ts';
import { describeOtherWork } from '../machine/other-work.ts';
import { pageStyle } from './page-style.ts';
import { figureNames, formatAsk } from './table.ts';

/** A page that needs nothing else: tables, bars and charts of results, to open, send or keep. */
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
  const { machine, settings, advice = [] } = result;
  const { disk } = machine;
  const otherWork = describeOtherWork(machine.otherWork);
  const facts = [
    `${result.at.slice(0, 16).replace('T', ' ')} UTC, took ${formatValue(result.tookS, 's')}${result.isQuick ? ', a quick run: not to be quoted' : ''}`,
    `${machine.cores} cores (${machine.cpu}), ${machine.memoryGiB} GiB, ${machine.os}, Node ${machine.node}, nats-server ${machine.natsServer}, revision ${machine.revision}`,
    ...(otherWork === undefined ? [] : [otherWork]),
    `fdatasync of 4 KiB: p50 ${formatValue(disk.p50, 'ms')}, p90 ${formatValue(disk.p90, 'ms')}, p99 ${formatValue(disk.p99, 'ms')}`,
  ];
  return `<section>
<h2>${escapeHtml(result.scenario)}</h2>
<p>${escapeHtml(result.summary)}</p>
${facts.map((fact) => `<p class="fact">${escapeHtml(fact)}</p>`).join('\n')}
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
