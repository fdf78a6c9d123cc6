import { useEffect, useRef } from 'react';
import type { ReactElement } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { HealthSeries } from '../api/types.ts';
import { showCount } from './numbers.ts';

const heightPx = 220;

/** Attempts over time, failures on top of what was delivered. The sums are said in words for who cannot see it. */
export function OutcomeChart({ series }: { readonly series: HealthSeries }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new uPlot(optionsFor(element, series), dataOf(series), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [series]);
  const sum = (member: 'succeeded' | 'failed' | 'stopped' | 'blocked'): number =>
    series.steps.reduce((total, step) => total + step[member], 0);
  return (
    <figure className="stack tight">
      <div ref={place} className="chart" aria-hidden="true" />
      <figcaption className="legend">
        <span className="good">Delivered {showCount(sum('succeeded'))}</span>
        <span className="bad">Failed {showCount(sum('failed'))}</span>
        <span className="off">Stopped by rules {showCount(sum('stopped') + sum('blocked'))}</span>
      </figcaption>
    </figure>
  );
}

/** Stacked from the top down, so that the highest is drawn first. */
function dataOf({ steps }: HealthSeries): uPlot.AlignedData {
  return [
    steps.map(({ at }) => at / 1_000),
    steps.map(({ succeeded, failed, stopped, blocked }) => succeeded + failed + stopped + blocked),
    steps.map(({ succeeded, failed }) => succeeded + failed),
    steps.map(({ succeeded }) => succeeded),
  ];
}

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The time of day and, where a day begins, which; in the viewer's zone. */
function showTimes(timesS: readonly number[]): string[] {
  return timesS.map((timeS, index) => {
    const date = new Date(timeS * 1_000);
    const before = timesS[index - 1];
    const isNewDay = before === undefined || new Date(before * 1_000).getDate() !== date.getDate();
    return isNewDay ? `${hour.format(date)}\n${day.format(date)}` : hour.format(date);
  });
}

function optionsFor(element: HTMLElement, { stepMinutes }: HealthSeries): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars?.({ size: [0.85, 60], align: 1 });
  const drawn = (label: string, name: string): uPlot.Series => ({
    label,
    fill: colour(name),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const axis: uPlot.Axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: { range: (_chart, _low, high) => [0, Math.max(1, high * 1.05)] },
      x: { range: (_chart, low, high) => [low, high + stepMinutes * 60] },
    },
    axes: [
      { ...axis, values: (_chart, times) => showTimes(times) },
      {
        ...axis,
        size: 56,
        values: (_chart, values) => values.map((value) => (Number.isInteger(value) ? showCount(value) : '')),
      },
    ],
    series: [{}, drawn('Stopped', '--text-soft'), drawn('Failed', '--bad'), drawn('Delivered', '--good')],
  };
}
