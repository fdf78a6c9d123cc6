import { threadId } from 'node:worker_threads';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { VisitorStore, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { createBlackBox } from '../../threads/black-box.ts';
import { ownTaskId } from '../../threads/cpu-wait.ts';
import type { HostTask } from '../../threads/host.ts';
import type { Command, Report } from '../../threads/messages.ts';
import { startResolver } from '../../workers/resolve/resolver.ts';
import type { Actor } from '../../workers/worker/define-worker.ts';

/** A visitor whose events take the thread down when they are resolved. */
export const poison = 'out-of-memory';

/** A host of real resolvers on a real log, whose visitors are made up. */
export async function runHost({ port, blackBox, settings }: HostTask): Promise<void> {
  const turns = createBlackBox(blackBox);
  const connection = await connectLog({ ...settings.log, name: 'poisoned-host', acceptsOldServer: true });
  const say = (report: Report): void => port.postMessage(report);
  const actors: Actor[] = [];
  const start = async ({ spec, mark, suspicion, actorId }: Extract<Command, { kind: 'start' }>): Promise<void> => {
    if (spec.kind !== 'resolver') return;
    const actor = await startResolver({
      partition: spec.partition,
      connection,
      visitors: { resolve: resolveVisitors },
      plans: () => undefined,
      settings: settings.resolver,
      logger: createLogger('pipeline', settings.logLevel),
      suspicion,
      beginTurn: (frames) => turns.turn(mark, frames),
    });
    actors.push(actor);
    say({ kind: 'started', actorId });
  };
  await new Promise<void>((resolve) => {
    port.on('message', (command: Command) => {
      if (command.kind === 'start') void start(command);
      if (command.kind === 'shutdown') resolve();
    });
    say({ kind: 'ready', threadId, taskId: ownTaskId() });
  });
  await Promise.all(actors.map((actor) => actor.stop(1_000)));
  await connection.close();
  port.close();
}

function resolveVisitors(touches: readonly VisitorTouch[]): ReturnType<VisitorStore['resolve']> {
  if (JSON.stringify(touches).includes(poison)) fillMemory();
  const visitor = { kind: 'resolved', id: 'visitor', properties: VisitorProperties.none, created: false } as const;
  const outcomes = touches.map(() => visitor);
  return Promise.resolve({ outcomes, created: 0, updated: 0, merged: 0, oversized: 0 });
}

function fillMemory(): never {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => index + Math.random()));
}
