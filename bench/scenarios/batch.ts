import { batchBody, posthogBody, specBody } from '../load/bodies.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { measureBatches } from '../load/measure-batches.ts';
import type { BatchWay, MeasuredBatches } from '../load/measure-batches.ts';
import { figureOf, meanOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import { gcFigures } from '../system/gc-watch.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';

const rowsPerBatch = 1_000;
const connections = 8;

const large: BatchWay = {
  name: 'Sluice gateway',
  path: '/api/v1/batch',
  rows: rowsPerBatch,
  connections,
  body: (token) => batchBody(token, rowsPerBatch),
};

/** A batch as Segment's and RudderStack's server libraries send it: at most 100 events. */
const libraryBatch = { rows: 100, connections: 16 };
const small = (name: string, path: string, body: (token: string, rows: number) => string): BatchWay => ({
  name,
  path,
  ...libraryBatch,
  body: (token) => body(token, libraryBatch.rows),
});
const own = small('Our own batch', '/api/v1/batch', batchBody);
const families = [
  { id: 'spec', name: "Segment's and RudderStack's batch", path: '/v1/batch', body: specBody },
  { id: 'posthog', name: "PostHog's batch", path: '/batch/', body: posthogBody },
].map(({ id, name, path, body }) => ({ id, name, way: small(name, path, body) }));

const ways = [large, own, ...families.map(({ way }) => way)];

/**
 * Maximum durable rows per second in batches, compared with only parsing and checking the same rows, and in the formats
 * of other services' libraries.
 */
export const batch: Scenario = {
  name: 'batch',
  summary: `maximum durable rows per second: batches of ${rowsPerBatch}, and of ${libraryBatch.rows} as other services' libraries send them, closed loop`,
  bars: [
    {
      id: 'of-parse',
      text: 'rate against JSON.parse and check on one thread',
      limit: 0.6,
      unit: 'ratio',
      ask: 'at-least',
    },
    ...families.map(({ id, name }) => ({
      id: `of-own-${id}`,
      text: `${name}, against our own`,
      limit: 0.8,
      unit: 'ratio' as const,
      ask: 'at-least' as const,
    })),
  ],
  async run(context) {
    const parsed: Round[] = [];
    const measured = new Map<BatchWay, MeasuredBatches[]>(ways.map((way) => [way, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      const alone = await context.attempt('parse and check', () => parseOnce(context, round));
      if (alone !== undefined) parsed.push(alone);
      for (const way of ways) {
        const found = await context.attempt(way.name, () => measureBatches(context, way, round));
        if (found !== undefined) measured.get(way)?.push(found);
      }
    }
    const perS = (way: BatchWay): number[] => (measured.get(way) ?? []).map(({ load }) => load.answersPerS * way.rows);
    const ofParse = ratioFigure(
      perS(large),
      parsed.map(({ value }) => value),
    );
    const ofOwn = new Map(families.map(({ way }) => [way, ratioFigure(perS(way), perS(own))]));
    const ratioOf = (way: BatchWay): Readonly<Record<string, Figure>> => {
      const ratio = ofOwn.get(way);
      if (way === large) return { 'of parse': ofParse };
      return ratio === undefined ? {} : { 'of own': ratio };
    };
    return {
      settings: { rowsPerBatch, connections, libraryBatch, syncInterval: 'always' },
      rows: [
        { name: 'JSON.parse and check, one thread', figures: { 'events/s': figureOf('per_s', 'more', parsed) } },
        ...ways.map((way) => rowOf(way, measured.get(way) ?? [], ratioOf(way))),
      ],
      measured: {
        'of-parse': ofParse.value,
        ...Object.fromEntries(families.map(({ id, way }) => [`of-own-${id}`, ofOwn.get(way)?.value ?? Number.NaN])),
      },
    };
  },
};

function rowOf(
  { name, rows }: BatchWay,
  rounds: readonly MeasuredBatches[],
  ratios: Readonly<Record<string, Figure>>,
): ResultRow {
  const loads = rounds.map(({ load }) => load);
  return {
    name,
    figures: {
      ...loadFigures(loads, rows),
      ...gcFigures(rounds.map(({ gc }) => gc)),
      ...ratios,
      memory: plainFigure(
        'bytes',
        'less',
        rounds.map(({ memoryBytes }) => memoryBytes),
      ),
    },
    series: loadSeries(loads, rows),
  };
}

function parseOnce({ stage, progress, seconds, warmUpSeconds }: ScenarioContext, round: number): Promise<Round> {
  return stage.scoped(async (own) => {
    progress.step(`parse and check, round ${round}`, seconds + warmUpSeconds);
    const args = [rowsPerBatch, warmUpSeconds * 1000, seconds * 1000].map(String);
    const child = await own.startChild({ name: 'parse-check', entry: 'bench/peers/parse-check-main', args });
    const readings = (await child.nextMessage()) as readonly number[];
    return { value: meanOf(readings), readings };
  });
}
