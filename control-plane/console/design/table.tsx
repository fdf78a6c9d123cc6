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

/**
 * A table that scrolls if it is too wide. On a narrow screen each row is a card: the first cell is its title, and each
 * other cell shows the title of its column. Roles are explicit, since this layout removes a table's own roles.
 */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>): ReactElement {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table className="cards" role="table">
        <TableHead columns={columns} />
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              <Cells row={row} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function TableHead<Row>({ columns }: Pick<TableProps<Row>, 'columns'>): ReactElement {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ title, isNumber }) => (
          <th key={title} scope="col" role="columnheader" className={isNumber === true ? 'number' : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export function Cells<Row>({ row, columns }: Pick<TableProps<Row>, 'columns'> & { readonly row: Row }): ReactElement[] {
  return columns.map(({ title, isNumber, cell }) => (
    <td key={title} role="cell" data-title={title} className={isNumber === true ? 'number' : undefined}>
      {cell(row)}
    </td>
  ));
}

/** A button that loads the next page of a list. */
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
