import { batchBody } from '../load/bodies.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { measureBatches } from '../load/measure-batches.ts';
import type { BatchWay, MeasuredBatches } from '../load/measure-batches.ts';
import { figureOf, meanOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import { gcFigures } from '../system/gc-watch.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';

const rowsPerBatch = 1_000;
const connections = 8;

const gatewayWay: BatchWay = {
  name: 'Sluice gateway',
  path: '/api/v1/batch',
  rows: rowsPerBatch,
  connections,
  body: (token) => batchBody(token, rowsPerBatch),
};

/** Most rows a second over `POST /batch`, durable, beside parsing and checking the same rows alone. */
export const batch: Scenario = {
  name: 'batch',
  summary: `most durable rows a second, batches of ${rowsPerBatch}, ${connections} connections, closed loop`,
  bars: [{ id: 'of-parse', text: 'of JSON.parse and check on one thread', limit: 0.6, unit: 'ratio', ask: 'at-least' }],
  async run(context) {
    const parsed: Round[] = [];
    const measured: MeasuredBatches[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const alone = await context.attempt('parse and check', () => parseOnce(context, round));
      if (alone !== undefined) parsed.push(alone);
      const found = await context.attempt('Sluice gateway', () => measureBatches(context, gatewayWay, round));
      if (found !== undefined) measured.push(found);
    }
    const loads = measured.map(({ load }) => load);
    const ofParse = ratioFigure(
      loads.map(({ answersPerS }) => answersPerS * rowsPerBatch),
      parsed.map(({ value }) => value),
    );
    return {
      settings: { rowsPerBatch, connections, syncInterval: 'always' },
      rows: [
        { name: 'JSON.parse and check, one thread', figures: { 'events/s': figureOf('per_s', 'more', parsed) } },
        {
          name: 'Sluice gateway',
          figures: {
            ...loadFigures(loads, rowsPerBatch),
            ...gcFigures(measured.map(({ gc }) => gc)),
            'of parse': ofParse,
            memory: plainFigure(
              'bytes',
              'less',
              measured.map(({ memoryBytes }) => memoryBytes),
            ),
          },
          series: loadSeries(loads, rowsPerBatch),
        },
      ],
      measured: { 'of-parse': ofParse.value },
    };
  },
};

function parseOnce({ stage, progress, seconds, warmUpSeconds }: ScenarioContext, round: number): Promise<Round> {
  return stage.scoped(async (own) => {
    progress.step(`parse and check, round ${round}`, seconds + warmUpSeconds);
    const args = [rowsPerBatch, warmUpSeconds * 1000, seconds * 1000].map(String);
    const child = await own.startChild({ name: 'parse-check', entry: 'bench/peers/parse-check-main', args });
    const readings = (await child.nextMessage()) as readonly number[];
    return { value: meanOf(readings), readings };
  });
}
