import { batchBody, posthogBody, specBody } from '../load/bodies.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { measureBatches } from '../load/measure-batches.ts';
import type { BatchWay } from '../load/measure-batches.ts';
import type { LoadResult } from '../load/load-result.ts';
import { ratioFigure } from '../result/figure.ts';
import type { Scenario } from '../system/scenario.ts';

/** Segment's and RudderStack's server libraries send a hundred at most. */
const rows = 100;
const connections = 16;

type Family = { readonly id: string; readonly way: BatchWay };

const way = (name: string, path: string, body: (token: string, rows: number) => string): BatchWay => ({
  name,
  path,
  rows,
  connections,
  body: (token) => body(token, rows),
});

const ownWay = way('Our own batch', '/api/v1/batch', batchBody);
const families: readonly Family[] = [
  { id: 'spec', way: way("Segment's and RudderStack's batch", '/v1/batch', specBody) },
  { id: 'posthog', way: way("PostHog's batch", '/batch/', posthogBody) },
];

/** Most rows a second of libraries of other services, durable, beside the same events in our own batches. */
export const compat: Scenario = {
  name: 'compat',
  summary: `most durable rows a second of other families' libraries, batches of ${rows}, ${connections} connections`,
  bars: families.map(({ id, way: { name } }) => ({
    id: `of-own-${id}`,
    text: `${name}, of our own`,
    limit: 0.8,
    unit: 'ratio',
    ask: 'at-least',
  })),
  async run(context) {
    const ways = [ownWay, ...families.map((family) => family.way)];
    const loads = new Map<BatchWay, LoadResult[]>(ways.map((one) => [one, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const one of ways) {
        const found = await context.attempt(one.name, () => measureBatches(context, one, round));
        if (found !== undefined) loads.get(one)?.push(found.load);
      }
    }
    const perS = (one: BatchWay): readonly number[] => (loads.get(one) ?? []).map(({ answersPerS }) => answersPerS);
    const ofOwn = families.map((family) => ({ ...family, ratio: ratioFigure(perS(family.way), perS(ownWay)) }));
    return {
      settings: { rowsPerBatch: rows, connections, syncInterval: 'always' },
      rows: ways.map((one) => {
        const ratio = ofOwn.find((family) => family.way === one)?.ratio;
        return {
          name: one.name,
          figures: { ...loadFigures(loads.get(one) ?? [], rows), ...(ratio === undefined ? {} : { 'of own': ratio }) },
          series: loadSeries(loads.get(one) ?? [], rows),
        };
      }),
      measured: Object.fromEntries(ofOwn.map(({ id, ratio }) => [`of-own-${id}`, ratio.value])),
    };
  },
};
