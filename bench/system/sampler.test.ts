import { expect, test } from 'vitest';
import { chartsOf } from '../report/charts.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { familyMemoryProbe, memoryProbe } from './sampler.ts';

test('memory: a chart says whether it shows resident or proportional memory', () => {
  const series = [memoryProbe('gateway', 1), familyMemoryProbe('gateway', 1)].map(({ chart, name, unit }) => ({
    chart,
    name,
    unit,
    points: [[0, 1]] as const,
  }));
  const charts = chartsOf(resultForTests([{ name: 'stack', figures: {}, series }]), 0);
  expect(charts.map(({ title }) => title)).toEqual(['Memory (resident)', 'Memory (PSS: shared pages in proportion)']);
});
