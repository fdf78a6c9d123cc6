import type { ListIdentity, Page, PageQuery, Paginator, Position } from './pagination.ts';

/** How the rows of a list are ordered; positions are compared value by value. */
export type Order<Row> = {
  position(row: Row): Position;
  readonly direction: 'ascending' | 'descending';
};

/** A page of rows in memory, for lists filtered or sorted by values that are not in the database. */
export function pageInMemory<Row, Entity>(
  paginator: Paginator,
  query: PageQuery,
  list: ListIdentity,
  { rows, order, view }: { readonly rows: readonly Row[]; readonly order: Order<Row>; view(row: Row): Entity },
): Page<Entity> {
  const { limit, after } = paginator.read(query, list);
  const sign = order.direction === 'ascending' ? 1 : -1;
  const compare = (a: Position, b: Position): number => sign * comparePositions(a, b);
  const shown = rows
    .filter((row) => after === undefined || compare(order.position(row), after) > 0)
    .toSorted((a, b) => compare(order.position(a), order.position(b)));
  return paginator.page(list, limit, shown, order.position, view);
}

/** Two positions of one list have values of the same types in the same order. */
function comparePositions(a: Position, b: Position): number {
  for (const [index, value] of a.entries()) {
    const other = b[index];
    if (other === undefined || value === other) continue;
    return value < other ? -1 : 1;
  }
  return 0;
}
