import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import type { ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import { startGateway } from '../system/services.ts';
import { runWatchedLoad } from './run-watched-load.ts';
import { assertAllAccepted } from './load-result.ts';
import type { LoadResult } from './load-result.ts';

/** An API through which batches are sent to a gateway. */
export type BatchWay = {
  /** Name in progress messages. */
  readonly name: string;
  readonly path: string;
  readonly rows: number;
  readonly connections: number;
  /** Makes the body, with its variable slots. */
  body(token: string): string;
};

export type MeasuredBatches = {
  readonly load: LoadResult;
  readonly gc: GcWatch | undefined;
  readonly memoryBytes: number;
};

/** Measures one round of batches, sent to a new gateway and log as fast as they are answered. */
export function measureBatches(
  context: ScenarioContext,
  { name, path, rows, connections, body }: BatchWay,
  round: number,
): Promise<MeasuredBatches> {
  const { stage, progress, seconds, warmUpSeconds } = context;
  return stage.scoped(async (own) => {
    const log = await own.startLog();
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }]);
    const gateway = await startGateway(own, log.url);
    progress.step(`${name}, round ${round}`, seconds + warmUpSeconds);
    const order = {
      url: `${gateway.url}${path}`,
      bodies: [body(token)],
      connections,
      ...timesOf(context),
    };
    const onWindow = (perSecond: number): void => progress.note(`${Math.round(perSecond * rows)} rows/s`);
    const { load, gc } = await runWatchedLoad(own, [gateway], order, {
      perAnswer: rows,
      onWindow: (window) => onWindow(window.perSecond),
    });
    assertAllAccepted(name, load);
    return { load, gc, memoryBytes: await peakMemoryBytes(gateway.pid) };
  });
}
