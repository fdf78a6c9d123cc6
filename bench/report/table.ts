import type { ScenarioResult } from '../scenario.ts';

/** A result as a table for the terminal. */
export function renderTable(result: ScenarioResult): string {
  const header = ['', result.unit, 'ratio', 'p50 ms', 'p99 ms', 'max ms', 'memory', ''];
  const rows = result.rows.map((row) => [
    row.name,
    Math.round(row.perSecond).toLocaleString('en-US'),
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    row.latencyMs?.p50.toFixed(1) ?? '',
    row.latencyMs?.p99.toFixed(1) ?? '',
    row.latencyMs?.max.toFixed(0) ?? '',
    row.memoryBytes === undefined ? '' : `${Math.round(row.memoryBytes / 1024 ** 2)} MiB`,
    row.note ?? '',
  ]);
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 || column === cells.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}
