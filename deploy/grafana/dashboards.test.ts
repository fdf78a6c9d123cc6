import { expect, test } from 'vitest';
import { readRules, unknownMetrics } from '../prometheus/expressions.ts';
import { dashboards, queriesOf } from './dashboards.ts';

const recorded = new Set((await readRules('recording.yml')).map(({ record }) => record ?? ''));

test('dashboards: each uid is unique, short enough for Grafana, and begins with "sluice-"', () => {
  const uids = dashboards.map(({ uid }) => uid);
  expect(new Set(uids).size).toBe(uids.length);
  for (const uid of uids) expect(uid).toMatch(/^sluice-[a-z-]{1,33}$/);
});

test.each(dashboards.flatMap(queriesOf).map(({ panel, expr }) => [panel, expr]))(
  'dashboard panel %s: asks for metrics that exist, over the interval Grafana chooses',
  (_panel, expr) => {
    expect(unknownMetrics(expr, recorded)).toEqual([]);
    if (/\b(rate|increase)\(/.test(expr)) expect(expr).toContain('[$__rate_interval]');
  },
);

test('dashboards: every panel has its own position, an id, a description, and the chosen data source', () => {
  for (const { panels } of dashboards) {
    const taken = new Set<string>();
    const ids = new Set<number>();
    for (const panel of panels as readonly PlacedPanel[]) {
      ids.add(panel.id);
      const { x, y, w, h } = panel.gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let row = y; row < y + h; row += 1) {
        for (let column = x; column < x + w; column += 1) {
          expect(taken).not.toContain(`${row} ${column}`);
          taken.add(`${row} ${column}`);
        }
      }
      if (panel.type === 'row') continue;
      expect(panel.description).toBeTruthy();
      expect(panel.datasource?.uid).toBe('${DS_PROMETHEUS}');
    }
    expect(ids.size).toBe(panels.length);
  }
});

type PlacedPanel = {
  readonly id: number;
  readonly type: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
};
