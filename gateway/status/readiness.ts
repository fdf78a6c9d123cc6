import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { complaintsOf } from '../../shared/nats/monitor/watch-log-servers.ts';
import type { LogServersWatch } from '../../shared/nats/monitor/watch-log-servers.ts';
import type { ReadyCheck } from '../../shared/runtime/status/serve-status.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { SourceFeed } from '../ingest/follow-sources.ts';
import type { LogGate } from '../commit/log-gate.ts';
import type { Canary } from './canary.ts';

export type ReadinessOf = {
  readonly connection: Pick<LogConnection, 'problem'>;
  readonly canary: Canary;
  readonly gate: LogGate;
  readonly feed: SourceFeed;
  readonly logServers: Pick<LogServersWatch, 'servers'>;
  readonly scope: Pick<Scope, 'ending'>;
};

/** The conditions for this gateway to be ready. */
export function readinessChecks(of: ReadinessOf): ReadyCheck[] {
  const { connection, canary, gate, feed, logServers, scope } = of;
  const notStored = (): string | undefined => {
    const problem = canary.problem(performance.now());
    // Only a publish shows whether the log stores events. If it does not, the log servers' own complaints may explain
    // why.
    const complaints = problem === undefined ? undefined : complaintsOf(logServers.servers);
    return complaints === undefined ? problem : `${problem} (${complaints})`;
  };
  return [
    { name: 'log', check: () => asResult(connection.problem ?? notStored()) },
    { name: 'frames', check: () => asResult(gate.problem(performance.now())) },
    { name: 'configuration', check: () => asResult(feed.ready ? undefined : 'not read yet') },
    { name: 'running', check: () => asResult(scope.ending ? 'the gateway is stopping' : undefined) },
  ];
}

const asResult = (problem: string | undefined) =>
  problem === undefined ? { ok: true } : { ok: false, detail: problem };
