import { formatValue } from '../result/format-value.ts';
import { isBarMet } from '../result/result.ts';
import type { Bar, ResultRow } from '../result/result.ts';

/** Names of the figures, in the order in which they first appear. */
export function figureNames(rows: readonly ResultRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row.figures)))];
}

/** The rows as a text table for a terminal. */
export function renderTable(rows: readonly ResultRow[]): string {
  const names = figureNames(rows);
  const cells = rows.map((row) => [
    row.name,
    ...names.map((name) => {
      const figure = row.figures[name];
      return figure === undefined ? '' : formatValue(figure.value, figure.unit);
    }),
    row.note ?? '',
  ]);
  return align([['', ...names, ''], ...cells]);
}

/** One line per bar, with its measured value. */
export function renderBars(bars: readonly Bar[], measured: Readonly<Record<string, number>>): string {
  return bars
    .map((bar) => {
      const value = measured[bar.id];
      if (value === undefined) return `  –   ${bar.text}: not measured in this run`;
      const said = `${bar.text}: ${formatValue(value, bar.unit)} (asked ${formatAsk(bar)})`;
      return `  ${isBarMet(bar, value) ? '✓' : '✗'}   ${said}`;
    })
    .join('\n');
}

export function formatAsk(bar: Bar): string {
  return `${bar.ask === 'at-least' ? '≥' : '≤'} ${formatValue(bar.limit, bar.unit)}`;
}

function align(lines: readonly (readonly string[])[]): string {
  const columns = lines[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  const written = lines.map((cells) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 || column === columns - 1 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return [written[0], rule, ...written.slice(1)].join('\n');
}
