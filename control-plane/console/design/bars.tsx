import type { ReactElement } from 'react';

const width = 120;
const height = 24;

/** A small bar chart, failures on top. The numbers are in the text next to the chart. */
export function Bars({
  good,
  bad,
}: {
  readonly good: readonly number[];
  readonly bad?: readonly number[];
}): ReactElement {
  const most = Math.max(1, ...good.map((count, index) => count + (bad?.[index] ?? 0)));
  const step = width / Math.max(1, good.length);
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / most) * height));
  return (
    <svg className="bars" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" preserveAspectRatio="none">
      {good.map((count, index) => {
        const failed = tall(bad?.[index] ?? 0);
        const left = index * step;
        const wide = Math.max(1, step - 1.5);
        const top = Math.max(0, height - failed - tall(count));
        return (
          // Steps have no key but their index.
          <g key={index}>
            <rect className="none" x={left} y={height - 1} width={wide} height={1} />
            <rect x={left} y={top + failed} width={wide} height={tall(count)} />
            <rect className="failed" x={left} y={top} width={wide} height={failed} />
          </g>
        );
      })}
    </svg>
  );
}
