import { figureOf } from '../result/figure.ts';
import type { Figure, Series } from '../result/result.ts';
import type { LoadWindow, Percentiles } from './load-recorder.ts';
import type { LoadResult } from './load-result.ts';

/** Rate and latencies of the rounds of one subject. Each answered request had `perAnswer` events. */
export function loadFigures(loads: readonly LoadResult[], perAnswer = 1): Record<string, Figure> {
  const latency = (name: keyof Percentiles): Figure =>
    figureOf(
      'ms',
      'less',
      loads.map(({ latencyMs, windows }) => ({
        value: latencyMs[name],
        readings: windows.map((window) => window[name]),
      })),
    );
  return {
    'events/s': figureOf(
      'per_s',
      'more',
      loads.map(({ answersPerS, windows }) => ({
        value: answersPerS * perAnswer,
        readings: windows.map(({ perSecond }) => perSecond * perAnswer),
      })),
    ),
    p50: latency('p50'),
    p99: latency('p99'),
    'p99.9': latency('p999'),
    max: latency('max'),
  };
}

/** Throughput and latency lines from the windows of all rounds, one round after the other. */
export function loadSeries(loads: readonly LoadResult[], perAnswer = 1): Series[] {
  const points = (read: (window: LoadWindow) => number): [number, number][] => {
    let fromS = 0;
    return loads.flatMap(({ windows, seconds }) => {
      const found = windows.map((window): [number, number] => [fromS + window.atS, read(window)]);
      fromS += seconds;
      return found;
    });
  };
  return [
    {
      chart: 'throughput',
      name: 'events/s',
      unit: 'per_s',
      points: points(({ perSecond }) => perSecond * perAnswer),
    },
    { chart: 'latency', name: 'p50', unit: 'ms', points: points(({ p50 }) => p50) },
    { chart: 'latency', name: 'p99', unit: 'ms', points: points(({ p99 }) => p99) },
  ];
}
