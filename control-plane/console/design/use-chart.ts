import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';
import './known-language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export type ChartWanted = {
  readonly data: uPlot.AlignedData;
  readonly heightPx: number;
  /** Duration of a step in s; the time axis ends this long after the start of the last step. */
  readonly stepS: number;
  /** A value's label on the axis; '' for no label. */
  readonly showValue: (value: number) => string;
  /** From back to front; `colour` is the name of a CSS variable. */
  readonly series: readonly { readonly label: string; readonly colour: string }[];
};

/** Draws bars over time into the element to which the returned ref is attached, at that element's width. */
export function useChart(wanted: ChartWanted): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const { data, heightPx } = wanted;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new uPlot(optionsFor(element, wanted), data, element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // The chart is drawn again only if the data changes: the rest of `wanted` never changes without the data.
  }, [data]);
  return place;
}

/** Width of one label of the time axis: a time of day with AM or PM, and a gap. */
const timeWidthPx = 72;

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** Labels of the time axis, in the viewer's zone: the time of day, and the date where a day begins. */
function showTimes(timesS: readonly number[]): string[] {
  return timesS.map((timeS, index) => {
    const date = new Date(timeS * 1_000);
    const before = timesS[index - 1];
    const isNewDay = before === undefined || new Date(before * 1_000).getDate() !== date.getDate();
    return isNewDay ? `${hour.format(date)}\n${day.format(date)}` : hour.format(date);
  });
}

function optionsFor(element: HTMLElement, { heightPx, stepS, showValue, series }: ChartWanted): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars?.({ size: [0.85, 60], align: 1 });
  const axis: uPlot.Axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    // Half of the last label extends to the right of its line.
    padding: [null, timeWidthPx / 2, null, null],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: { range: (_chart, _low, high) => [0, Math.max(1, high * 1.05)] },
      x: { range: (_chart, low, high) => [low, high + stepS] },
    },
    axes: [
      { ...axis, space: timeWidthPx, values: (_chart, times) => showTimes(times) },
      { ...axis, size: 76, values: (_chart, values) => values.map(showValue) },
    ],
    series: [
      {},
      ...series.map(({ label, colour: name }) => ({
        label,
        fill: colour(name),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
  };
}
