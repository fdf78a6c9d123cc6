import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadOrder } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { startBareUws } from '../peers/peers.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { startGateway } from '../system/services.ts';

const connections = 256;
/** Fewer than this are not reported: the last tick of a measurement always leaves some. */
const unsentShareMax = 0.01;

type Pair = { readonly most: LoadResult; readonly half: LoadResult; readonly bareAtHalf: LoadResult };

/** Latency of a durable track at half of the most the gateway takes, in an open loop; beside bare uWS at that rate. */
export const latency: Scenario = {
  name: 'latency',
  summary: 'latency of a durable track at half of the most there can be, open loop, from when each request was due',
  bars: [
    { id: 'p50', text: 'median at half load', limit: 3, unit: 'ms', ask: 'at-most' },
    { id: 'p99', text: '99th percentile at half load', limit: 15, unit: 'ms', ask: 'at-most' },
  ],
  async run(context) {
    const pairs: Pair[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const found = await context.attempt('latency', () => measureOnce(context, round));
      if (found !== undefined) pairs.push(found);
    }
    const row = (name: string, loads: readonly LoadResult[]): ResultRow => ({
      name,
      figures: loadFigures(loads),
      series: loadSeries(loads),
      note: notSent(loads),
    });
    const half = row(
      'Sluice gateway, half of that, open loop',
      pairs.map((pair) => pair.half),
    );
    return {
      settings: { connections, syncInterval: 'always', tickMs: 1 },
      rows: [
        row(
          'Sluice gateway, closed loop',
          pairs.map((pair) => pair.most),
        ),
        row(
          'bare uWebSockets.js at that half, open loop',
          pairs.map((pair) => pair.bareAtHalf),
        ),
        half,
      ],
      measured: { p50: half.figures['p50']?.value ?? Number.NaN, p99: half.figures['p99']?.value ?? Number.NaN },
    };
  },
};

function notSent(loads: readonly LoadResult[]): string {
  const unsent = loads.reduce((sum, load) => sum + load.unsent, 0);
  const due = unsent + loads.reduce((sum, load) => sum + load.answers, 0);
  return unsent < due * unsentShareMax ? '' : `${unsent} were due and could not be sent: the rate was too high`;
}

function measureOnce(context: ScenarioContext, round: number): Promise<Pair> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const log = await stage.startLog();
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }]);
    const gateway = await startGateway(stage, log.url);
    const run = async (label: string, url: string, own: Pick<LoadOrder, 'ratePerS'>): Promise<LoadResult> => {
      progress.step(`${label}, round ${round}`, seconds + warmUpSeconds);
      const times = timesOf(context);
      const order = { url, bodies: [trackBody(token)], connections, ...times, ...own };
      const load = await runLoad(stage, order, ({ p50, p99 }) =>
        progress.note(`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`),
      );
      assertAllAccepted(label, load);
      return load;
    };
    const url = `${gateway.url}/api/v1/track`;
    const most = await run('closed loop', url, {});
    const ratePerS = most.answersPerS / 2;
    const half = await run('open loop at half', url, { ratePerS });
    await gateway.stop();
    const bare = await startBareUws(stage);
    return { most, half, bareAtHalf: await run('bare uWebSockets.js', bare.trackUrl, { ratePerS }) };
  });
}
