import type { ReactElement, ReactNode } from 'react';

export type Column<Row> = {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
};

export type TableProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
};

/** A table, which scrolls in itself where it is wider than the screen. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>): ReactElement {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber === true ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, cell }) => (
                <td key={title} className={isNumber === true ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Brings the next page of a list. */
export function More({
  query,
}: {
  readonly query: { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean; fetchNextPage(): unknown };
}): ReactElement | null {
  if (!query.hasNextPage) return null;
  return (
    <div className="row" style={{ padding: 12 }}>
      <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading …' : 'Show more'}
      </button>
    </div>
  );
}
