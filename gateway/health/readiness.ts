import type { ReadyCheck } from '../../shared/process/observe.ts';
import type { Shutdown } from '../../shared/process/shutdown.ts';
import type { SourceFeed } from '../admission/follow-sources.ts';
import type { LogGate } from '../framing/log-gate.ts';
import type { Canary } from './canary.ts';

export type ReadinessOf = {
  readonly canary: Canary;
  readonly gate: LogGate;
  readonly feed: SourceFeed;
  readonly shutdown: Shutdown;
};

/** What has to hold for this gateway to be sent requests. */
export function readinessChecks({ canary, gate, feed, shutdown }: ReadinessOf): ReadyCheck[] {
  return [
    { name: 'log', check: () => asResult(canary.problem(performance.now())) },
    { name: 'frames', check: () => asResult(gate.problem(performance.now())) },
    { name: 'configuration', check: () => asResult(feed.ready ? undefined : 'not read yet') },
    { name: 'running', check: () => asResult(shutdown.stopping ? 'the gateway is stopping' : undefined) },
  ];
}

const asResult = (problem: string | undefined) =>
  problem === undefined ? { ok: true } : { ok: false, detail: problem };
