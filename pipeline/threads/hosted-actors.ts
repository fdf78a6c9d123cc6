import pLimit from 'p-limit';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { BlackBox } from './black-box.ts';
import type { HostResources } from './host-resources.ts';
import type { HostSettings } from './host-settings.ts';
import type { Command, Report } from './messages.ts';
import type { ActorFigures, ActorSpec } from '../workers/registry.ts';
import { actorIdOf, keyOfSpec, startActor } from '../workers/registry.ts';
import type { Actor } from '../workers/worker/define-worker.ts';
import type { FramesAtWork } from '../workers/worker/suspicion.ts';
import { toWireError } from './messages.ts';

export type HostedActorsOptions = {
  readonly resources: HostResources;
  readonly settings: HostSettings;
  readonly logger: Logger;
  readonly blackBox: BlackBox;
  report(message: Report): void;
};

type StartCommand = Extract<Command, { kind: 'start' }>;

type Running = {
  readonly spec: ActorSpec;
  readonly actor: Actor;
  readonly reported: ReportedStats;
};

const startsAtOnce = 32;

/** The actors of one thread. Commands for one actor run one after the other. */
export class HostedActors {
  readonly #options: HostedActorsOptions;
  readonly #running = new Map<string, Running>();
  readonly #orders = new Map<string, Promise<void>>();
  // Each start sends several requests to the log; if a thousand actors started at once, the requests would exceed their
  // deadlines.
  readonly #limited = pLimit(startsAtOnce);
  #isStopping = false;

  constructor(options: HostedActorsOptions) {
    this.#options = options;
  }

  configure({ accountId, revision, document }: Extract<Command, { kind: 'configure' }>): void {
    const { resources, report, logger } = this.#options;
    try {
      resources.plans.configure(accountId, document);
    } catch (error) {
      logger.error(
        { accountId, revision, err: error },
        'configuration cannot be compiled; the previous one stays in force',
      );
    }
    for (const { actor, spec } of this.#running.values()) {
      if ('accountId' in spec && spec.accountId === accountId) actor.reconfigured?.();
    }
    report({ kind: 'configured', accountId, revision });
  }

  start(command: StartCommand): void {
    this.#order(command.actorId, () => this.#start(command));
  }

  stop(actorId: string, deadlineMs: number): void {
    this.#order(actorId, async () => {
      await this.#running.get(actorId)?.actor.stop(deadlineMs);
    });
  }

  async stopAll(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    for (const actorId of new Set([...this.#running.keys(), ...this.#orders.keys()])) this.stop(actorId, deadlineMs);
    await Promise.all(this.#orders.values());
  }

  retriesWaiting(destinationId: string, tier: number): void {
    this.#running.get(actorIdOf('dispatcher', destinationId))?.actor.retriesStored?.(tier);
  }

  passOver(actorId: string, upToSeq: number): void {
    // Limited, because a thousand destinations of an account may skip events at once.
    void this.#limited(async () => {
      await this.#running.get(actorId)?.actor.passOver?.(upToSeq);
    });
  }

  /** Figures of actors whose figures have changed since the last call; most of a thousand actors are idle. */
  changedFigures(): readonly ActorFigures[] {
    const changed: ActorFigures[] = [];
    for (const { spec, actor, reported } of this.#running.values()) {
      if (reported.take(actor.stats())) changed.push(figuresOf(spec, actor));
    }
    return changed;
  }

  #order(actorId: string, carryOut: () => Promise<void>): void {
    const before = this.#orders.get(actorId) ?? Promise.resolve();
    const order = before
      .then(carryOut)
      .catch((error: unknown) => {
        this.#options.logger.error({ actorId, err: error }, 'a command to an actor failed');
      })
      .finally(() => {
        if (this.#orders.get(actorId) === order) this.#orders.delete(actorId);
      });
    this.#orders.set(actorId, order);
  }

  async #start({ actorId, spec, mark, suspicion }: StartCommand): Promise<void> {
    const { resources, settings, logger, report, blackBox } = this.#options;
    if (this.#isStopping || this.#running.has(actorId)) return;
    try {
      const actor = await this.#limited(() =>
        startActor(spec, {
          ...resources,
          settings,
          logger,
          suspicion,
          beginTurn: (frames?: FramesAtWork) => blackBox.turn(mark, frames),
        }),
      );
      this.#running.set(actorId, { spec, actor, reported: new ReportedStats() });
      report({ kind: 'started', actorId });
      const ended = (error?: unknown): void => {
        this.#running.delete(actorId);
        const failure = error === undefined ? {} : { error: toWireError(error) };
        report({ kind: 'ended', actorId, last: figuresOf(spec, actor), ...failure });
      };
      void actor.done.then(
        () => ended(),
        (error: unknown) => ended(error ?? new Error('it failed')),
      );
    } catch (error) {
      report({ kind: 'ended', actorId, error: toWireError(error) });
    }
  }
}

/** An actor reports only the names that its kind declares, which the type of its definition ensures. */
function figuresOf(spec: ActorSpec, actor: Actor): ActorFigures {
  return { kind: spec.kind, key: keyOfSpec(spec), stats: actor.stats() };
}

type Stats = Readonly<Record<string, number>>;

/**
 * The last report of an actor, to detect changes: most of a thousand actors are idle and have nothing new to report.
 */
export class ReportedStats {
  /** Values in the fixed order of the names; empty before the first report. */
  #numbers: readonly number[] = [];

  /** Whether `stats` differ from the last report; if so, they become the last report. */
  take(stats: Stats): boolean {
    if (this.#isSame(stats)) return false;
    this.#numbers = Object.values(stats);
    return true;
  }

  #isSame(stats: Stats): boolean {
    let index = 0;
    for (const name in stats) {
      if (stats[name] !== this.#numbers[index]) return false;
      index += 1;
    }
    return index === this.#numbers.length;
  }
}
