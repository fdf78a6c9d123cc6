import { useMemo } from 'react';
import type { ReactElement } from 'react';
import type uPlot from 'uplot';
import type { Activity } from '../api/types.ts';
import { showMs } from '../design/numbers.ts';
import { useChart } from '../design/use-chart.ts';

export type LagChartProps = Pick<Activity, 'resolveLagMs' | 'firstStepAt' | 'stepMs'>;

/** The longest wait before an event was resolved, over time. For screen readers, the maximum is given as text. */
export function LagChart({ resolveLagMs, firstStepAt, stepMs }: LagChartProps): ReactElement {
  // Each read returns new arrays, so the values are compared: the chart is drawn again only if they have changed.
  const key = JSON.stringify([firstStepAt, resolveLagMs]);
  const data = useMemo((): uPlot.AlignedData => {
    const firstS = Date.parse(firstStepAt) / 1_000;
    return [resolveLagMs.map((_lagMs, step) => firstS + (step * stepMs) / 1_000), [...resolveLagMs]];
  }, [key]);
  const place = useChart({
    data,
    heightPx: 150,
    stepS: stepMs / 1_000,
    showValue: (value) => (Number.isInteger(value) ? showMs(value) : ''),
    series: [{ label: 'Resolve lag', colour: '--accent' }],
  });
  const known = resolveLagMs.filter((lagMs) => lagMs !== null);
  return (
    <figure className="stack tight">
      <div ref={place} className="chart" aria-hidden="true" />
      <figcaption className="hint">
        {known.length === 0 ? 'No pipeline has reported yet.' : `${showMs(Math.max(...known))} at most in this range.`}
      </figcaption>
    </figure>
  );
}
