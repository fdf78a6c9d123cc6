type Cell = string | number | boolean | readonly string[] | undefined;

/** Rows as CSV (RFC 4180), with the column names first. Members of a list are separated by spaces. */
export function csvLines<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, Cell>>>[],
): string {
  const lines = rows.map((row) => columns.map((name) => csvCell(row[name])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

function csvCell(value: Cell): string {
  const text = typeof value === 'object' ? value.join(' ') : String(value ?? '');
  return `"${withoutFormula(text).replaceAll('"', '""')}"`;
}

/** Puts a quote before text that a spreadsheet would run as a formula. */
export const withoutFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
