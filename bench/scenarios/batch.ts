import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { batchBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { figureOf, meanOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { startGateway } from '../system/services.ts';

const rowsPerBatch = 1_000;
const connections = 8;

type Measured = { readonly load: LoadResult; readonly memoryBytes: number };

/** Most rows a second over `POST /batch`, durable, beside parsing and checking the same rows alone. */
export const batch: Scenario = {
  name: 'batch',
  summary: `most durable rows a second, batches of ${rowsPerBatch}, ${connections} connections, closed loop`,
  bars: [{ id: 'of-parse', text: 'of JSON.parse and check on one thread', limit: 0.6, unit: 'ratio', ask: 'at-least' }],
  async run(context) {
    const parsed: Round[] = [];
    const measured: Measured[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      parsed.push(await parseOnce(context, round));
      measured.push(await measureOnce(context, round));
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

function measureOnce({ stage, progress, seconds, warmUpSeconds }: ScenarioContext, round: number): Promise<Measured> {
  return stage.scoped(async (own) => {
    const log = await own.startLog();
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }]);
    const gateway = await startGateway(own, log.url);
    progress.step(`Sluice gateway, round ${round}`, seconds + warmUpSeconds);
    const order = {
      url: `${gateway.url}/api/v1/batch`,
      bodies: [batchBody(token, rowsPerBatch)],
      connections,
      warmUpMs: warmUpSeconds * 1000,
      measureMs: seconds * 1000,
    };
    const onWindow = (perSecond: number): void => progress.note(`${Math.round(perSecond * rowsPerBatch)} rows/s`);
    const load = await runLoad(own, order, (window) => onWindow(window.perSecond));
    assertAllAccepted('batch', load);
    return { load, memoryBytes: await peakMemoryBytes(gateway.pid) };
  });
}
