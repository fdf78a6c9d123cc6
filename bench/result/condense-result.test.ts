import { expect, test } from 'vitest';
import { resultForTests } from '../testing/result-for-tests.ts';
import { condenseResult } from './condense-result.ts';
import { figureOf } from './figure.ts';

const readings = Array.from({ length: 1_000 }, (_, index) => index);

test('kept result: many readings are replaced by their percentiles, a few readings stay', () => {
  const latency = figureOf('ms', 'less', [
    { value: 500, readings },
    { value: 2, readings: [3, 1] },
  ]);
  const { rows } = condenseResult(resultForTests([{ name: 'gateway', figures: { latency } }]));
  expect(rows[0]?.figures['latency']).toEqual({
    ...latency,
    rounds: [
      [0, 10, 100, 250, 500, 749, 899, 989, 999],
      [3, 1],
    ],
  });
});

test('kept result: a figure of the older format, which is compared by its readings, keeps all its readings', () => {
  const figure = { unit: 'ms', better: 'less', value: 2, rounds: [readings] } as const;
  const { rows } = condenseResult(resultForTests([{ name: 'gateway', figures: { figure } }]));
  expect(rows[0]?.figures['figure']).toEqual(figure);
});

test('kept result: the line of a chart is thinned, but keeps its first and last points', () => {
  const points = readings.map((atS) => [atS, atS * 2] as const);
  const series = [{ chart: 'memory', name: 'pipeline', unit: 'bytes', points }] as const;
  const kept = condenseResult(resultForTests([{ name: 'gateway', figures: {}, series }])).rows[0]?.series?.[0]?.points;
  expect(kept?.length).toBeLessThan(70);
  expect([kept?.[0], kept?.at(-1)]).toEqual([
    [0, 0],
    [999, 1_998],
  ]);
});
