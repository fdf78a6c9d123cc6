import { noGeoRegions } from '../../workers/dispatch/geo-regions.ts';
import { noWithdrawals } from '../../workers/resolve/testing/no-withdrawals.ts';
import { randomBytes } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { createSecretBox } from '../../../shared/contracts/config/secrets.ts';
import { createEgressRules } from '../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../../shared/egress/sender.ts';
import type { Sender } from '../../../shared/egress/sender.ts';
import { followErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import { openBuckets } from '../../../shared/nats/buckets/open-buckets.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { resolvedBy } from '../../../shared/testing/visitors.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { VisitorStore, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { createAccountPlans } from '../../threads/account-plans.ts';
import { createBlackBox } from '../../threads/black-box.ts';
import { ownTaskId } from '../../../shared/runtime/cpu-use.ts';
import type { HostTask } from '../../threads/host.ts';
import type { HostSettings } from '../../threads/host-settings.ts';
import type { Command, Report } from '../../threads/messages.ts';
import { RoundBudgets } from '../../workers/dispatch/sources/round-budget.ts';
import { FrameQuotas } from '../../workers/dispatch/sources/frame-quota.ts';
import { ReferencedEvents } from '../../workers/dispatch/events/referenced-events.ts';
import { OpenedFrames } from '../../workers/dispatch/events/opened-frames.ts';
import { startDispatcher } from '../../workers/dispatch/dispatcher.ts';
import { createSourceActivity } from '../../workers/dispatch/health/source-activity.ts';
import { createRetryPolicy } from '../../workers/dispatch/settlement/retry-policy.ts';
import { unlimitedRetries } from '../../workers/dispatch/testing/unlimited-retries.ts';
import { createDeliveryTimings } from '../../workers/dispatch/sending/delivery-timings.ts';
import { startResolver } from '../../workers/resolve/resolver.ts';
import { CostBudget } from '../../../shared/limits/index.ts';
import type { Actor } from '../../workers/worker/define-worker.ts';
import { noRecorder } from '../../workers/recent/testing/no-recorder.ts';
import type { FramesAtWork } from '../../workers/worker/suspicion.ts';

/**
 * Crashes the thread: when it resolves an event of the visitor with this id, and when it sends an event whose id
 * contains this text.
 */
export const poison = 'out-of-memory';

/** A host of real resolvers and dispatchers on a real log, with generated visitors. */
export async function runHost({ port, blackBox, settings }: HostTask): Promise<void> {
  const turns = createBlackBox(blackBox);
  const connection = await connectLog({ ...settings.log, name: 'poisoned-host', acceptsOldServer: true });
  const { health, positions } = await openBuckets(connection, 1);
  const plans = createAccountPlans(createSecretBox(randomBytes(32).toString('base64')), {});
  const sourceActivity = createSourceActivity(health, settings.instanceId, () => undefined);
  const logger = createLogger('pipeline', settings.logLevel);
  const erasures = followErasures({ connection, onError: (error) => logger.error(error) });
  const say = (report: Report): void => port.postMessage(report);
  const costBudget = new CostBudget({ unitsPerMs: settings.accountWorkPerMs, unitsAtOnce: settings.roundWorkMax });
  const actors: Actor[] = [];
  const startActor = ({ spec, mark, suspicion }: StartCommand): Promise<Actor> | undefined => {
    const common = { connection, logger, suspicion, beginTurn: (frames?: FramesAtWork) => turns.turn(mark, frames) };
    switch (spec.kind) {
      case 'resolver':
        return startResolver({
          ...common,
          partition: spec.partition,
          visitors: resolvedBy(resolveVisitors),
          withdrawals: noWithdrawals,
          costBudget,
          plans: () => undefined,
          isOnlyAccount: () => false,
          settings: settings.resolver,
          violationStore: { write: () => Promise.resolve(), deleteOld: () => Promise.resolve() },
          identityStore: { write: () => Promise.resolve(), deleteOld: () => Promise.resolve() },
          personalDataStore: { write: () => Promise.resolve() },
          openRecorder: () => Promise.resolve(noRecorder),
        });
      case 'dispatcher': {
        const { accountId, destinationId, publishedAtMs } = spec;
        const { dispatcher } = settings;
        return startDispatcher({
          ...common,
          regions: noGeoRegions,
          accountId,
          destinationId,
          publishedAtMs,
          instanceId: settings.instanceId,
          health,
          positions,
          target: () => plans.target(accountId, destinationId),
          createSender: () => poisonedSender(settings),
          retryPolicy: createRetryPolicy(dispatcher.retryWindowMs, dispatcher.accessRetry.minMs),
          sourceActivity,
          timings: createDeliveryTimings(),
          roundBudgets: new RoundBudgets(settings.roundWorkMax, costBudget),
          frameQuotas: new FrameQuotas(settings.framesBytesMax),
          openedFrames: new OpenedFrames({ bytesMax: settings.openedFramesBytesMax }),
          referencedEvents: new ReferencedEvents(settings.openedFramesBytesMax),
          retryUse: () => unlimitedRetries,
          erasures,
          noteOutcome: () => undefined,
          settings: dispatcher,
        });
      }
      default:
        return undefined;
    }
  };
  const start = async (command: StartCommand): Promise<void> => {
    const actor = await startActor(command);
    if (actor === undefined) return;
    actors.push(actor);
    say({ kind: 'started', actorId: command.actorId });
  };
  await new Promise<void>((resolve) => {
    port.on('message', (command: Command) => {
      if (command.kind === 'configure') {
        plans.configure(command.accountId, command.document);
        say({ kind: 'configured', accountId: command.accountId, revision: command.revision });
      }
      if (command.kind === 'start') void start(command);
      if (command.kind === 'shutdown') resolve();
    });
    say({ kind: 'ready', threadId, taskId: ownTaskId() });
  });
  await Promise.all(actors.map((actor) => actor.stop(1_000)));
  await sourceActivity.stop();
  await connection.close();
  port.close();
}

type StartCommand = Extract<Command, { kind: 'start' }>;

function poisonedSender({ egress, dispatcher }: HostSettings): Sender {
  const rules = createEgressRules(egress.allowed, egress.denied);
  const sender = createSender({ rules, lookupFor: createGuardedLookup(rules), limits: dispatcher.sender });
  return {
    send: (request) => (Buffer.from(request.body ?? '').includes(poison) ? fillMemory() : sender.send(request)),
    close: () => sender.close(),
  };
}

function resolveVisitors(touches: readonly VisitorTouch[]): ReturnType<VisitorStore['resolve']> {
  if (JSON.stringify(touches).includes(poison)) fillMemory();
  const visitor = { kind: 'resolved', id: 'visitor', properties: VisitorProperties.none, created: false } as const;
  const outcomes = touches.map(() => visitor);
  return Promise.resolve({ outcomes, created: 0, updated: 0, merged: 0 });
}

/** Allocates large pieces: the collector would scan many small ones again and again before it fails. */
function fillMemory(): never {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from<number>({ length: 2_000_000 }).fill(Math.random()));
}
