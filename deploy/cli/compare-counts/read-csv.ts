/** Invalid CSV: the line and the problem. */
export class CsvError extends Error {
  readonly code = 'csv_malformed';
}

/** The records of a CSV text (RFC 4180), header included and empty lines left out. Throws CsvError. */
export function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let line = 1;
  let at = 0;
  while (at <= text.length) {
    const quoted = text[at] === '"';
    const end = quoted ? closingQuote(text, at, line) : plainEnd(text, at);
    const field = quoted ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end);
    record.push(field);
    at = quoted ? end + 1 : end;
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    if (at < text.length && text[at] !== '\n') throw new CsvError(`line ${line}: text after a closing quote`);
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
    line += 1;
    at += 1;
  }
  return records;
}

function plainEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n' && !text.startsWith('\r\n', at)) at += 1;
  return at;
}

function closingQuote(text: string, start: number, line: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (text[at + 1] !== '"') return at;
    at += 1;
  }
  throw new CsvError(`line ${line}: a quote is not closed`);
}
