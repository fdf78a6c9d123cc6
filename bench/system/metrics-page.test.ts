import { expect, test } from 'vitest';
import { parseMetrics } from './metrics-page.ts';

test('metrics page: sums a name over its labels, and only that name', () => {
  const page = parseMetrics(
    [
      '# HELP sluice_events_total Events',
      '# TYPE sluice_events_total counter',
      'sluice_events_total{partition="0"} 12',
      'sluice_events_total{partition="1",name="a } b"} 30.5',
      'sluice_events_total_other 7',
      'sluice_up 1',
      '',
    ].join('\n'),
  );
  expect([page.sum('sluice_events_total'), page.sum('sluice_up'), page.sum('sluice_none')]).toEqual([42.5, 1, 0]);
});
