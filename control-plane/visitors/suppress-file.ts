import { open } from 'node:fs/promises';
import type { Pool } from 'pg';
import { suppressIdentifiers } from '../../shared/visitors/suppressions.ts';
import type { Identifier } from '../../shared/visitors/visitor-identity.ts';
import { insertAudit } from '../audit/record-audit.ts';
import { identifierOf, identifiersMax, listNames, lists } from './identifier-lists.ts';
import type { ListName } from './identifier-lists.ts';

/** A file that cannot be read as a list of identifiers. Identifiers suppressed before the faulty line stay suppressed. */
export class SuppressionFileError extends Error {
  readonly code = 'suppression_file';
}

export type SuppressedFile = {
  readonly created: number;
  readonly existing: number;
  /** Identifiers that a visitor has. */
  readonly owned: number;
  /** Values that are blocked as identifiers, such as "null". */
  readonly placeholders: number;
};

type FileRequest = { readonly accountId: string; readonly file: string; readonly reference: string | undefined };

/**
 * Suppresses the identifiers in a CSV file (RFC 4180, one record a line), in batches. Identifiers that are already
 * suppressed are skipped, so an interrupted run may be repeated.
 */
export async function suppressFile(pool: Pool, request: FileRequest): Promise<SuppressedFile> {
  const total = { created: 0, existing: 0, owned: 0, placeholders: 0 };
  let waiting: Identifier[] = [];
  const flush = async (): Promise<void> => {
    const identifiers = distinct(waiting);
    waiting = [];
    if (identifiers.length === 0) return;
    const done = await suppressSome(pool, request, identifiers);
    total.created += done.created;
    total.existing += done.existing;
    total.owned += done.owned.length;
  };
  const handle = await open(request.file);
  try {
    let columns: readonly (ListName | undefined)[] | undefined;
    let line = 0;
    for await (const text of handle.readLines({ encoding: 'utf8' })) {
      line += 1;
      if (text === '') continue;
      // Spreadsheets write a byte order mark before the first line.
      const cells = cellsOf(line === 1 ? text.replace(/^\uFEFF/, '') : text, line);
      if (columns === undefined) {
        columns = readColumns(cells);
        continue;
      }
      for (const [index, cell] of cells.entries()) {
        const list = columns[index];
        if (list === undefined || cell === '') continue;
        const identifier = readCell(list, cell, line);
        if (identifier === undefined) total.placeholders += 1;
        else waiting.push(identifier);
      }
      if (waiting.length >= identifiersMax - listNames.length) await flush();
    }
    if (columns === undefined) throw new SuppressionFileError('the file is empty');
    await flush();
  } finally {
    await handle.close();
  }
  return total;
}

function suppressSome(pool: Pool, { accountId, reference }: FileRequest, identifiers: readonly Identifier[]) {
  const principal = {
    accountId,
    kind: 'tool' as const,
    id: 'command-line',
    name: 'command line',
    scopes: ['all'],
    expiresAt: null,
  };
  return suppressIdentifiers(
    pool,
    { accountId, identifiers, reference },
    {
      now: () => Date.now(),
      audit: (client, count) =>
        insertAudit(client, principal, { action: 'suppression.create', details: { count } }, new Date()),
    },
  );
}

export function showSuppressed({ created, existing, owned, placeholders }: SuppressedFile): string {
  const skipped = `${owned} belong to a visitor (erase it with suppress), ${placeholders} are blocked as identifiers`;
  return `${created} suppressed, ${existing} were suppressed already; skipped: ${skipped}`;
}

function distinct(identifiers: readonly Identifier[]): readonly Identifier[] {
  return [...new Map(identifiers.map((one) => [`${one.kind}\n${one.value}`, one])).values()];
}

function readColumns(cells: readonly string[]): readonly (ListName | undefined)[] {
  const columns = cells.map((cell) => {
    const title = cell.trim().toLowerCase();
    return listNames.find((name) => lists[name].name.toLowerCase() === title);
  });
  if (columns.some((column) => column !== undefined)) return columns;
  throw new SuppressionFileError('line 1 must name a column userId, externalId or email');
}

function readCell(list: ListName, cell: string, line: number): Identifier | undefined {
  const { name, charactersMax } = lists[list];
  if (cell.length <= charactersMax) return identifierOf(list, cell);
  throw new SuppressionFileError(
    `line ${line}: ${name} has ${cell.length} characters, and at most ${charactersMax} are allowed`,
  );
}

function cellsOf(text: string, line: number): readonly string[] {
  const cells: string[] = [];
  for (let rest = text; ;) {
    const [found, quoted, plain = ''] = /^(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/.exec(rest) ?? [];
    if (found === undefined) throw new SuppressionFileError(`line ${line}: a quote is misplaced or not closed`);
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (rest.length === found.length) return cells;
    rest = rest.slice(found.length + 1);
  }
}
