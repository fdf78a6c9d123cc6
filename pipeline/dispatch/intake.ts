import type { Delivery } from '../../shared/log/delivery.ts';
import type { DeadLetterWriter } from './dead-letter-writer.ts';
import { readResolvedFrame } from './dispatch-item.ts';
import type { DispatchItem } from './dispatch-item.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './health-keeper.ts';
import type { HeldFrame, HeldFrames } from './held-frames.ts';
import type { RetryFrame } from './retry-reader.ts';
import type { SettlingContext } from './settle-attempts.ts';
import type { VisitorLanes } from './visitor-lanes.ts';

export type IntakeParts = {
  readonly target: DispatcherOptions['target'];
  readonly counts: DispatcherCounts;
  readonly keeper: HealthKeeper;
  readonly deadLetters: DeadLetterWriter;
  readonly lanes: VisitorLanes<DispatchItem>;
  readonly held: HeldFrames;
  readonly note: SettlingContext['note'];
  /** Health has counted all of the frame. */
  acknowledge(delivery: Delivery): void;
  onSettled(frame: HeldFrame): void;
  onFailed(error: unknown): void;
};

type UnopenedFrame = { readonly frame: HeldFrame; readonly data: Uint8Array };

/** Takes frames, opens them, and decides about each event: into its visitor's lane, or settled at once. */
export class Intake {
  readonly #parts: IntakeParts;
  /** Held, but not read yet: parsed events that wait would be copied around by every garbage collection. */
  #unopened: UnopenedFrame[] = [];

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Frames taken and not opened. */
  get unopened(): number {
    return this.#unopened.length;
  }

  /** Takes a frame of the account's log; it is opened when its events are wanted. */
  takeFrame(delivery: Delivery): void {
    const { counts, keeper } = this.#parts;
    counts.frames += 1;
    if (delivery.deliveries > 1) counts.redelivered_frames += 1;
    const target = this.#parts.target();
    // A destination that is switched off moves on with its account and is sent nothing, then or later: what it missed
    // can be replayed by command.
    if (target !== undefined && !target.destination.isEnabled) {
      this.#parts.acknowledge(delivery);
      return;
    }
    if (target?.prepared === undefined) {
      delivery.nak();
      return;
    }
    const frame = this.#hold(0, delivery.data.length, {
      finished: () => keeper.commit(() => this.#parts.acknowledge(delivery)),
      abandoned: () => delivery.nak(),
      touch: () => delivery.working(),
    });
    this.#unopened.push({ frame, data: delivery.data });
  }

  /** Opens frames in order as long as more events are wanted. */
  openWhile(isMoreWanted: () => boolean): void {
    while (this.#unopened.length > 0 && isMoreWanted()) {
      const next = this.#unopened.shift();
      if (next !== undefined) this.#open(next);
    }
  }

  /** Frames that were handed back are not opened. */
  forget(abandoned: ReadonlySet<HeldFrame>): void {
    this.#unopened = this.#unopened.filter(({ frame }) => !abandoned.has(frame));
  }

  /** Takes a frame of the retry log. The rules that apply now decide anew. */
  takeRetries({ records, bytes, finished, abandoned }: RetryFrame): void {
    if (this.#parts.target()?.plan === undefined) {
      abandoned();
      return;
    }
    const frame = this.#hold(records.length, bytes, {
      finished: () => this.#parts.keeper.commit(finished),
      abandoned,
      // It stays in the retry log until it is finished.
      touch: () => undefined,
    });
    for (const { event: resolved, attempts, firstAttemptAt } of records) {
      const firstAttemptAtMs = attempts === 0 ? undefined : firstAttemptAt;
      this.#admit({ resolved, frame, attempts, firstAttemptAtMs, visitorId: resolved.visitor.id, lane: 'retried' });
    }
    this.#parts.held.settle(frame);
  }

  #open({ frame, data }: UnopenedFrame): void {
    const { events, unreadable } = readResolvedFrame(data);
    const count = events.length + unreadable.length;
    this.#parts.counts.frame_events += count;
    frame.left += count;
    for (const line of unreadable) this.#bury(frame, line);
    for (const { resolved, json } of events) {
      const visitorId = resolved.visitor.id;
      this.#admit({ resolved, json, frame, attempts: 0, firstAttemptAtMs: undefined, visitorId, lane: 'fresh' });
    }
    this.#parts.held.settle(frame);
  }

  /** Holds a frame, with one count more than it has events: settled when all of them are admitted. */
  #hold(events: number, bytes: number, ends: Pick<HeldFrame, 'finished' | 'abandoned' | 'touch'>): HeldFrame {
    const frame: HeldFrame = { left: events + 1, isStarted: false, bytes, ...ends };
    this.#parts.held.add(frame);
    return frame;
  }

  #admit(item: DispatchItem): void {
    const { counts, keeper, lanes, held } = this.#parts;
    counts.events += 1;
    const target = this.#parts.target();
    const decision = target?.plan?.decide(item.resolved);
    switch (decision?.kind) {
      case 'send': {
        const sent = decision.mapped === undefined ? item : { ...item, mapped: decision.mapped };
        if (target?.prepared?.takes?.(sent) === false) {
          counts.skipped += 1;
          break;
        }
        const group = target?.prepared?.groupOf?.(sent);
        lanes.add(group === undefined ? sent : { ...sent, group });
        return;
      }
      case 'stop':
        counts.stopped += 1;
        this.#parts.note(item, 'stopped', item.attempts, `mapping ${decision.ruleId}`);
        keeper.record('stopped', 1);
        item.frame.isStarted = true;
        break;
      case 'global-stop':
        counts.global_stopped += 1;
        this.#parts.note(item, 'globalStop', item.attempts, decision.category);
        keeper.record('globalStop', 1);
        item.frame.isStarted = true;
        break;
      case 'skip':
      case undefined:
        counts.skipped += 1;
        break;
    }
    held.settle(item.frame);
  }

  #bury(frame: HeldFrame, line: string): void {
    const { counts, deadLetters, onSettled, onFailed } = this.#parts;
    counts.dead_letters += 1;
    counts.dead_letters_unreadable += 1;
    deadLetters
      .addUnreadable(Buffer.from(line), 'not a resolved event this build knows')
      .then(() => onSettled(frame), onFailed);
  }
}
