import type { ReactElement } from 'react';
import { showShare } from '../design/numbers.ts';
import type { Results } from './experiment.ts';

/** Approximate number of steps on the axis. */
const stepsWanted = 5;

/** The rate of each variant with its interval, on one axis. The numbers are in the table below. */
export function IntervalChart({ results: { variants } }: { readonly results: Results }): ReactElement {
  const highest = Math.max(0.01, ...variants.map(({ confidenceInterval }) => confidenceInterval?.high ?? 0));
  const step = roundStep(highest / stepsWanted);
  const end = Math.min(1, Math.ceil(highest / step) * step);
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step);
  const at = (rate: number): string => `${(rate / end) * 100}%`;
  const control = variants.find(({ isControl }) => isControl)?.confidenceInterval;
  return (
    <figure className="stack tight">
      <div className="intervals" aria-hidden="true">
        {variants.map(({ id, name, confidenceInterval: interval, conversionRate }, index) => (
          <div className="interval" key={id}>
            <span className="clip" dir="auto">
              {name}
            </span>
            <svg width="100%" height="28">
              {ticks.map((tick) => (
                <line key={tick} className="grid" x1={at(tick)} x2={at(tick)} y1="0" y2="28" />
              ))}
              {control === null || control === undefined ? null : (
                <rect
                  className="control"
                  x={at(control.low)}
                  width={at(control.high - control.low)}
                  y="0"
                  height="28"
                />
              )}
              {interval === null ? null : (
                <g className={`s${index % 6}`}>
                  <line className="reach" x1={at(interval.low)} x2={at(interval.high)} y1="14" y2="14" />
                  <line className="end" x1={at(interval.low)} x2={at(interval.low)} y1="8" y2="20" />
                  <line className="end" x1={at(interval.high)} x2={at(interval.high)} y1="8" y2="20" />
                  <circle cx={at(conversionRate ?? 0)} cy="14" r="5" />
                </g>
              )}
            </svg>
          </div>
        ))}
        <div className="interval axis">
          <span />
          <div className="ticks">
            {ticks.map((tick) => (
              <span key={tick} style={{ left: at(tick) }}>
                {showShare(tick)}
              </span>
            ))}
          </div>
        </div>
      </div>
      <figcaption className="hint">
        The dot is the rate so far, the line its interval (Wilson), the shaded band the interval of the control.
      </figcaption>
    </figure>
  );
}

/** The smallest step that is at least `least`, and equals 1, 2 or 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * 0.999) ?? 10;
  return factor * power;
}
