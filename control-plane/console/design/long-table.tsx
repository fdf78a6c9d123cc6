import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactElement } from 'react';
import { Cells, TableHead } from './table.tsx';
import type { TableProps } from './table.tsx';

type LongTableProps<Row> = TableProps<Row> & {
  /** Called when the last rows are near the screen. */
  readonly onEnd?: (() => void) | undefined;
};

/** Estimated height of a row that has not been drawn. */
const rowPx = 48;
const drawnBeyond = 8;

/** A table of any length that scrolls with the page. Only rows near the screen are drawn. */
export function LongTable<Row>({ label, columns, rows, keyOf, onEnd }: LongTableProps<Row>): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const top = place.current?.getBoundingClientRect().top ?? 0;
    setScrollMargin(Math.round(top + window.scrollY));
  }, [rows.length]);
  // Kept between renders: with a new function, the positions of all rows would be recomputed at each scroll step.
  const getItemKey = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    [rows],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: drawnBeyond,
    scrollMargin,
    getItemKey,
  });
  const items = virtual.getVirtualItems();
  const lastDrawn = items.at(-1)?.index ?? -1;
  const isAtEnd = rows.length > 0 && lastDrawn >= rows.length - drawnBeyond;
  useEffect(() => {
    if (isAtEnd) onEnd?.();
    // `onEnd` is called once each time the end of the table comes near.
  }, [isAtEnd, rows.length]);
  const before = Math.max(0, (items[0]?.start ?? scrollMargin) - scrollMargin);
  const after = Math.max(0, virtual.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin));
  return (
    <div ref={place} className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table className="cards" role="table" aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} />
        <tbody role="rowgroup">
          {before > 0 ? <Space px={before} columns={columns.length} /> : null}
          {items.map(({ index, key }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <tr key={key} ref={virtual.measureElement} data-index={index} role="row" aria-rowindex={index + 2}>
                <Cells row={row} columns={columns} />
              </tr>
            );
          })}
          {after > 0 ? <Space px={after} columns={columns.length} /> : null}
        </tbody>
      </table>
    </div>
  );
}

/** Fills the space of rows that are not drawn. */
function Space({ px, columns }: { readonly px: number; readonly columns: number }): ReactElement {
  return (
    <tr aria-hidden="true" className="space">
      <td colSpan={columns} style={{ height: px }} />
    </tr>
  );
}
