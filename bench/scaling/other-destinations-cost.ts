import { migrate } from '../../shared/postgres/migrate.ts';
import { accountIdOf, destinationIdOf } from '../config/ids.ts';
import type { BenchAccount } from '../config/account-document.ts';
import { publishAccounts } from '../config/publish-accounts.ts';
import { fillEvents } from '../fill/fill-events.ts';
import type { ScenarioContext } from '../system/scenario.ts';
import { startSink } from '../sink/sink.ts';
import { processCpuMs } from '../machine/process-cpu.ts';
import { startPipeline } from '../system/services.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { whilePaused } from '../system/while-paused.ts';

export type EventCost = { readonly perS: number; readonly cpuMicros: number };

const group = 'in';
const eventsPerS = 8_000;
const warmUpRounds = 3;
const warmUpEvents = 40_000;
const drainDeadlineMs = 300_000;

/** What the delivery of an event costs the pipeline while other accounts have destinations that get nothing. */
export function otherDestinationsCost(context: ScenarioContext, others: number): Promise<EventCost> {
  const { seconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${others} destinations of other accounts`, seconds * 2 + 30);
    const sink = await startSink(stage);
    const log = await stage.startLog();
    const account = (index: number): BenchAccount => ({
      accountId: accountIdOf(index),
      destinations: [{ id: destinationIdOf(index), url: sink.urlOf(`${group}/${index}`) }],
    });
    await publishAccounts(
      log.url,
      Array.from({ length: others + 1 }, (_, index) => account(index)),
    );
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const pipeline = await startPipeline(stage, log.url, databaseUrl);
    const deliver = async (events: number): Promise<EventCost> => {
      const begin = (await sink.group(group)).events;
      await whilePaused(pipeline.pid, () => fillEvents({ natsUrl: log.url, accountId: accountIdOf(0), events }));
      const [startedMs, cpuMs] = [performance.now(), await processCpuMs(pipeline.pid)];
      await waitUntil('the events to be delivered', drainDeadlineMs, async () => {
        const arrived = (await sink.group(group)).events - begin;
        return arrived >= events ? undefined : `${arrived} of ${events}`;
      });
      const spentMs = (await processCpuMs(pipeline.pid)) - cpuMs;
      return {
        perS: (events * 1000) / (performance.now() - startedMs),
        cpuMicros: (spentMs * 1000) / events,
      };
    };
    // As long as it takes until the code is compiled and the heaps have their size: among 1,000 destinations that is later.
    for (let round = 0; round < warmUpRounds; round += 1) await deliver(warmUpEvents);
    return deliver(eventsPerS * seconds);
  });
}
