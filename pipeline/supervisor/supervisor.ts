import type { Logger } from '../../shared/runtime/logger.ts';
import type { HostSettings } from '../threads/host-settings.ts';
import type { Report, WireError } from '../threads/messages.ts';
import { idOfSpec, keyOfSpec, workerKinds, workerOf } from '../workers/registry.ts';
import type { ActorSpec } from '../workers/registry.ts';
import { convictedBy, noSuspicion, suspectAfterDeath } from '../workers/worker/suspicion.ts';
import type { FramesAtWork } from '../workers/worker/suspicion.ts';
import type { ActorRecord } from './actor-record.ts';
import { ConfigurationRelay } from './configuration-relay.ts';
import { placeActor, planMoves } from './thread-placement.ts';
import { decideRestart, decideBlamelessRestart } from './restart-policy.ts';
import type { StatsLedger } from './stats-ledger.ts';
import { ThreadSlot } from './thread-slot.ts';
import type { ThreadDeath, ThreadPool } from './thread-slot.ts';

export type SupervisorOptions = {
  readonly pool: ThreadPool;
  readonly threads: number;
  /** Time that an actor has to stop when it moves or its destination is removed, in ms. */
  readonly stopDeadlineMs: number;
  /** A host that does not report for this long counts as hung, in ms; hosts report every second. */
  readonly silenceMaxMs: number;
  readonly settings: Omit<HostSettings, 'thread'>;
  readonly stats: StatsLedger;
  readonly logger: Logger;
};

/** The supervisor's view of one actor. */
export type PlacedActor = Readonly<Pick<ActorRecord, 'thread' | 'state' | 'failuresInARow'>> & {
  readonly kind: ActorSpec['kind'];
  readonly key: string;
};

/** Actors move back to a restarted thread once it has run for this long, in ms. */
const rebalanceAfterMs = 5_000;
/** When a thread dies, the actor whose turn it was is charged with this many failures in a row. */
const failuresPerThread = 4;

/**
 * Places actors on threads and keeps them running. Knows threads and messages, but not destinations: an actor's spec
 * names its subject, and the thread does its work.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly ThreadSlot[];
  readonly #actors = new Map<string, ActorRecord>();
  readonly #relay: ConfigurationRelay;
  readonly #stopped = new Map<string, (() => void)[]>();
  /** Whether all threads have once run at the same time. */
  #isSettled = false;
  #rebalanceTimer: NodeJS.Timeout | undefined;
  #marks = 0;
  #isStopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.threads }, (_, thread) => {
      const slot: ThreadSlot = new ThreadSlot({
        pool: options.pool,
        settings: { ...options.settings, thread },
        silenceMaxMs: options.silenceMaxMs,
        onReport: (report) => this.#onReport(slot, report),
        onDead: (death) => this.#onDead(slot, death),
      });
      return slot;
    });
    this.#relay = new ConfigurationRelay(this.#slots);
  }

  start(): void {
    for (const slot of this.#slots) slot.start();
  }

  /** Number of threads whose host runs. */
  get threadsReady(): number {
    return this.#slots.filter((slot) => slot.isReady).length;
  }

  /** Indexes of the threads whose host runs. */
  get readyThreads(): readonly number[] {
    return this.#slots.flatMap((slot, thread) => (slot.isReady ? [thread] : []));
  }

  /** Every actor with its thread. */
  get placed(): readonly PlacedActor[] {
    return [...this.#actors.values()].map(({ spec, thread, state, failuresInARow }) => ({
      kind: spec.kind,
      key: keyOfSpec(spec),
      thread,
      state,
      failuresInARow,
    }));
  }

  /** How many actors are in each state. */
  get states(): Readonly<Record<ActorRecord['state'], number>> {
    const states = { waiting: 0, starting: 0, running: 0, moving: 0, stopping: 0, quarantined: 0 };
    for (const { state } of this.#actors.values()) states[state] += 1;
    return states;
  }

  /** Sends an account's configuration to every thread; settles when all live threads have it. */
  configure(accountId: string, revision: number, document: Uint8Array | undefined): Promise<void> {
    return this.#relay.send(accountId, revision, document);
  }

  /** Starts an actor; settles when it runs, has failed and will be started again, or was removed. */
  run(spec: ActorSpec): Promise<void> {
    const actorId = idOfSpec(spec);
    const known = this.#actors.get(actorId);
    if (known?.state === 'stopping') known.next = spec;
    if (known?.state === 'starting' || known?.state === 'waiting' || known?.state === 'stopping') {
      return new Promise((resolve) => known.onFirstOutcome.push(resolve));
    }
    if (known !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const record: ActorRecord = {
        actorId,
        spec,
        mark: (this.#marks += 1),
        thread: undefined,
        state: 'waiting',
        failuresInARow: 0,
        suspicion: noSuspicion,
        next: undefined,
        passOverUpTo: 0,
        startedMs: 0,
        timer: undefined,
        onFirstOutcome: [resolve],
      };
      this.#actors.set(actorId, record);
      this.#place(record);
    });
  }

  /** Makes an actor of this process skip its log up to and including a sequence, once the actor runs. */
  passOver(actorId: string, upToSeq: number): void {
    const record = this.#actors.get(actorId);
    if (record === undefined) return;
    record.passOverUpTo = Math.max(record.passOverUpTo, upToSeq);
    if (record.state === 'running') this.#tellToPassOver(record);
  }

  #tellToPassOver(record: ActorRecord): void {
    const { actorId, thread, passOverUpTo: upToSeq } = record;
    if (thread === undefined || upToSeq === 0) return;
    // Not sent again: after a loss of the log other events have these sequences. Retention repeats a request that is
    // still needed.
    if (this.#slots[thread]?.tell({ kind: 'pass-over', actorId, upToSeq }) === true) record.passOverUpTo = 0;
  }

  /** Stops an actor permanently; settles when it has stopped. */
  remove(actorId: string): Promise<void> {
    const record = this.#actors.get(actorId);
    if (record === undefined) return Promise.resolve();
    record.next = undefined;
    if (record.state === 'stopping') return this.#whenStopped(actorId);
    clearTimeout(record.timer);
    const isThere = record.state === 'running' || record.state === 'starting' || record.state === 'moving';
    const slot = record.thread === undefined ? undefined : this.#slots[record.thread];
    record.state = 'stopping';
    if (!isThere || slot?.tell({ kind: 'stop', actorId, deadlineMs: this.#options.stopDeadlineMs }) !== true) {
      this.#forget(record);
      return Promise.resolve();
    }
    return this.#whenStopped(actorId);
  }

  /** Stops every actor and thread. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#rebalanceTimer);
    for (const { timer } of this.#actors.values()) clearTimeout(timer);
    await Promise.all(this.#slots.map((slot) => slot.stop(deadlineMs)));
  }

  #whenStopped(actorId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#stopped.set(actorId, [...(this.#stopped.get(actorId) ?? []), resolve]);
    });
  }

  #place(record: ActorRecord): void {
    if (this.#isStopping || record.state === 'stopping') return;
    record.state = 'waiting';
    const loads = new Map(this.#placeable().map((slot) => [slot.thread, { ofKind: 0, weight: 0 }]));
    for (const { thread, spec } of this.#actors.values()) {
      const load = thread === undefined ? undefined : loads.get(thread);
      if (load === undefined) continue;
      load.weight += workerOf(spec.kind).weight;
      if (spec.kind === record.spec.kind) load.ofKind += 1;
    }
    const thread = placeActor(record.actorId, loads);
    const slot = thread === undefined ? undefined : this.#slots[thread];
    record.thread = slot?.thread;
    if (slot !== undefined) this.#startOn(slot, record);
  }

  #startOn(slot: ThreadSlot, record: ActorRecord): void {
    // If the thread has not started yet, it starts the actor once it runs.
    const { actorId, spec, mark, suspicion } = record;
    if (!slot.tell({ kind: 'start', actorId, spec, mark, suspicion })) return;
    record.state = 'starting';
    record.startedMs = performance.now();
  }

  /**
   * Threads on which actors may be placed: at first all threads, since all are about to start; later only those that
   * run.
   */
  #placeable(): readonly ThreadSlot[] {
    const ready = this.#slots.filter((slot) => slot.isReady);
    return this.#isSettled && ready.length > 0 ? ready : this.#slots;
  }

  /** Spreads actors evenly again after a thread died and was restarted. */
  #rebalance(): void {
    const threads = this.#slots.map((slot) => slot.thread);
    for (const kind of workerKinds) {
      const placed = [...this.#actors.values()].flatMap(({ actorId, spec, thread, state }) =>
        spec.kind === kind && state === 'running' && thread !== undefined ? [{ actorId, thread }] : [],
      );
      for (const actorId of planMoves(placed, threads)) this.#move(actorId);
    }
  }

  #move(actorId: string): void {
    const record = this.#actors.get(actorId);
    const slot = record?.thread === undefined ? undefined : this.#slots[record.thread];
    if (
      record === undefined ||
      slot?.tell({ kind: 'stop', actorId, deadlineMs: this.#options.stopDeadlineMs }) !== true
    )
      return;
    record.state = 'moving';
  }

  #onReport(slot: ThreadSlot, report: Report): void {
    switch (report.kind) {
      case 'ready':
        this.#options.logger.info({ thread: slot.thread }, 'thread ready');
        this.#relay.sendAll(slot);
        for (const record of this.#actors.values()) {
          if (record.state !== 'waiting') continue;
          if (record.thread === slot.thread) this.#startOn(slot, record);
          else if (record.thread === undefined && record.timer === undefined) this.#place(record);
        }
        if (this.threadsReady < this.#slots.length) return;
        if (this.#isSettled) this.#rebalanceTimer = setTimeout(() => this.#rebalance(), rebalanceAfterMs);
        this.#isSettled = true;
        return;
      case 'configured':
        this.#relay.confirmed(slot.thread, report.accountId, report.revision);
        return;
      case 'started': {
        const record = this.#actors.get(report.actorId);
        if (record === undefined || record.thread !== slot.thread || record.state === 'stopping') return;
        if (record.state === 'starting') record.state = 'running';
        this.#tellToPassOver(record);
        settleAll(record.onFirstOutcome);
        return;
      }
      case 'ended':
        if (report.last !== undefined) this.#options.stats.ended(report.last, report.last.stats);
        this.#onEnded(slot, report.actorId, report.error);
        return;
      case 'stats':
        this.#options.stats.reported(slot.thread, report);
    }
  }

  #onEnded(slot: ThreadSlot, actorId: string, error: WireError | undefined): void {
    const record = this.#actors.get(actorId);
    if (record === undefined || record.thread !== slot.thread) return;
    if (record.state === 'stopping') this.#forget(record);
    else if (this.#isStopping) return;
    else if (record.state === 'moving' && error === undefined) this.#place(record);
    else this.#restart(record, error ?? { code: 'ended', message: 'it ended', stack: '' });
  }

  #restart(record: ActorRecord, error: WireError): void {
    const { logger, stats } = this.#options;
    const decision =
      error.isBlameless === true
        ? decideBlamelessRestart(record.failuresInARow, Math.random())
        : decideRestart(record.failuresInARow, performance.now() - record.startedMs, Math.random());
    record.failuresInARow = decision.failuresInARow;
    record.thread = undefined;
    clearTimeout(record.timer);
    record.state = decision.kind === 'quarantine' ? 'quarantined' : 'waiting';
    record.timer = setTimeout(() => {
      record.timer = undefined;
      this.#place(record);
    }, decision.delayMs);
    stats.restarted(record.spec.kind);
    settleAll(record.onFirstOutcome);
    const fields = { actor: record.actorId, ...error, delayMs: Math.round(decision.delayMs) };
    if (decision.kind === 'quarantine') logger.error(fields, 'an actor keeps failing; pausing its restarts');
    else logger.warn(fields, 'an actor failed; restarting it');
  }

  /**
   * Moves the thread's actors to live threads; if there are none, the actors wait for a thread. The actor whose turn it
   * was is blamed: it restarts later, and is quarantined the third time, before it takes down every thread. The frames
   * that it was working on are suspected, and quarantined the second time.
   */
  #onDead(slot: ThreadSlot, { error, retryMs, lastTurn, wasSilent, lastFrames }: ThreadDeath): void {
    const { logger, stats } = this.#options;
    if (this.#isStopping) return;
    const own = [...this.#actors.values()].filter(({ thread }) => thread === slot.thread);
    const suspect = own.find(({ mark }) => mark === lastTurn);
    const fields = { thread: slot.thread, suspect: suspect?.actorId, wasSilent, retryMs: Math.round(retryMs) };
    logger.error({ ...fields, err: error }, 'a thread died; restarting it');
    stats.threadDied(slot.thread, wasSilent);
    for (const record of own) {
      record.thread = undefined;
      stats.ended({ kind: record.spec.kind, key: keyOfSpec(record.spec) }, undefined);
      if (record.state === 'stopping') this.#forget(record);
      else if (record !== suspect) this.#place(record);
    }
    if (suspect !== undefined && suspect.state !== 'stopping') {
      this.#suspectFrames(suspect, lastFrames);
      this.#restart(suspect, { code: 'thread_died', message: 'its thread died while it was running', stack: '' });
    }
    this.#relay.threadDied(slot.thread);
  }

  /**
   * Suspects the frames that the actor was working on. If that convicts a frame, the actor continues without the frame,
   * and the actor's failures are forgotten.
   */
  #suspectFrames(record: ActorRecord, frames: FramesAtWork | undefined): void {
    const convicted = frames === undefined ? undefined : convictedBy(record.suspicion, frames);
    record.suspicion = suspectAfterDeath(record.suspicion, frames);
    if (convicted === undefined) {
      record.failuresInARow += failuresPerThread - 1;
      return;
    }
    record.failuresInARow = 0;
    this.#options.logger.error(
      { actor: record.actorId, ...convicted },
      'a frame that took its thread down twice is quarantined',
    );
  }

  #forget(record: ActorRecord): void {
    this.#actors.delete(record.actorId);
    if (record.next === undefined) settleAll(record.onFirstOutcome);
    else void this.run(record.next).then(() => settleAll(record.onFirstOutcome));
    const stopped = this.#stopped.get(record.actorId) ?? [];
    this.#stopped.delete(record.actorId);
    settleAll(stopped);
  }
}

function settleAll(listeners: (() => void)[]): void {
  for (const listener of listeners.splice(0)) listener();
}
