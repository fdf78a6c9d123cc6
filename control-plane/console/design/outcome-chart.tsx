import { useMemo } from 'react';
import type { ReactElement } from 'react';
import type uPlot from 'uplot';
import type { HealthSeries } from '../api/types.ts';
import { showCount } from './numbers.ts';
import { useChart } from './use-chart.ts';

/** Attempts over time, failures on top. For screen readers, the totals are given as text. */
export function OutcomeChart({ series }: { readonly series: HealthSeries }): ReactElement {
  const data = useMemo(() => dataOf(series), [series]);
  const place = useChart({
    data,
    heightPx: 220,
    stepS: series.stepMinutes * 60,
    showValue: (value) => (Number.isInteger(value) ? showCount(value) : ''),
    series: [
      { label: 'Stopped', colour: '--text-soft' },
      { label: 'Failed', colour: '--bad' },
      { label: 'Delivered', colour: '--good' },
    ],
  });
  const sum = (member: 'succeeded' | 'failed' | 'stopped' | 'blocked'): number =>
    series.steps.reduce((total, step) => total + step[member], 0);
  return (
    <figure className="stack tight">
      <div ref={place} className="chart" aria-hidden="true" />
      <figcaption className="legend">
        <span className="good">Delivered {showCount(sum('succeeded'))}</span>
        <span className="bad">Failed {showCount(sum('failed'))}</span>
        <span className="off">Stopped {showCount(sum('stopped') + sum('blocked'))}</span>
      </figcaption>
    </figure>
  );
}

/** Running sums, the largest first. Each series is drawn over the previous one, so the bars look stacked. */
function dataOf({ steps }: HealthSeries): uPlot.AlignedData {
  return [
    steps.map(({ at }) => at / 1_000),
    steps.map(({ succeeded, failed, stopped, blocked }) => succeeded + failed + stopped + blocked),
    steps.map(({ succeeded, failed }) => succeeded + failed),
    steps.map(({ succeeded }) => succeeded),
  ];
}
