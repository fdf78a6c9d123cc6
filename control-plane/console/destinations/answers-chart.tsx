import { useMemo } from 'react';
import type { ReactElement } from 'react';
import type uPlot from 'uplot';
import type { Delivery } from '../api/types.ts';
import { countOf, showMs } from '../design/numbers.ts';
import { Empty } from '../design/page.tsx';
import { useChart } from '../design/use-chart.ts';

/** Response times of requests (p50 and p95), and the number of throttled attempts, over time. */
export function AnswersChart({ delivery: { steps, stepMs } }: { readonly delivery: Delivery }): ReactElement {
  const key = JSON.stringify(steps.map(({ at, answerMs, throttled }) => [at, answerMs, throttled]));
  const [times, throttling] = useMemo((): [uPlot.AlignedData, uPlot.AlignedData] => {
    const atS = steps.map(({ at }) => at / 1_000);
    return [
      [atS, steps.map(({ answerMs }) => answerMs?.most ?? null), steps.map(({ answerMs }) => answerMs?.half ?? null)],
      [atS, steps.map(({ throttled }) => throttled)],
    ];
  }, [key]);
  const requests = steps.reduce((sum, step) => sum + step.requests, 0);
  const throttled = steps.reduce((sum, step) => sum + step.throttled, 0);
  const slowest = Math.max(0, ...steps.map(({ answerMs }) => answerMs?.most ?? 0));
  if (requests === 0) return <Empty title="No requests in this range." />;
  return (
    <figure className="stack tight">
      <Drawn
        data={times}
        stepS={stepMs / 1_000}
        showValue={(value) => (Number.isInteger(value) ? showMs(value) : '')}
        series={[
          { label: 'p95', colour: '--line-strong' },
          { label: 'p50', colour: '--accent' },
        ]}
      />
      <figcaption className="legend">
        <span className="accent">Half of the requests (p50)</span>
        <span className="strong">95 of 100 (p95), {showMs(slowest)} at most</span>
        <span className={throttled === 0 ? 'off' : 'warn'}>
          {throttled === 0 ? 'No attempt was throttled' : `${countOf(throttled, 'attempt')} throttled`}
        </span>
      </figcaption>
      {throttled === 0 ? null : (
        <Drawn
          data={throttling}
          stepS={stepMs / 1_000}
          showValue={(value) => (Number.isInteger(value) ? String(value) : '')}
          series={[{ label: 'Throttled', colour: '--warn' }]}
        />
      )}
    </figure>
  );
}

type DrawnProps = Omit<Parameters<typeof useChart>[0], 'heightPx'>;

/** A chart, hidden from screen readers: the figure's caption has the numbers. */
function Drawn(props: DrawnProps): ReactElement {
  const place = useChart({ ...props, heightPx: 150 });
  return <div ref={place} className="chart" aria-hidden="true" />;
}
