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
  // A spreadsheet would run text with such a beginning as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
