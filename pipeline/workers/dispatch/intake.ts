import type { Delivery } from '../../../shared/nats/messages/delivery.ts';
import { buryUnreadable } from './bury-unreadable.ts';
import type { DeadLetterWriter } from './outbox/dead-letter-writer.ts';
import { DispatchItem, readResolvedLine, resolvedLines, wholeEvent } from './dispatch-item.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './outbox/health-keeper.ts';
import type { HeldFrame, HeldFrames } from './inbox/held-frames.ts';
import type { NoteOutcome } from './outcome-noter.ts';
import type { RetryFrame } from './outbox/retry-reader.ts';
import { countBits, hasBit } from './inbox/line-bits.ts';
import type { SettledPart } from './inbox/dispatch-place.ts';
import type { VisitorLanes } from './sending/visitor-lanes.ts';
import type { ReleasedEvent, VisitorOrder } from './visitor-order.ts';

export type IntakeParts = {
  readonly target: DispatcherOptions['target'];
  readonly counts: DispatcherCounts;
  readonly keeper: HealthKeeper;
  readonly deadLetters: DeadLetterWriter;
  readonly lanes: VisitorLanes<DispatchItem>;
  readonly held: HeldFrames;
  readonly note: NoteOutcome;
  /** Frames up to here had been handed out to an earlier dispatcher; */
  readonly handedOutSeq: number;
  /** what it had settled of them, by the sequence of the frame. */
  readonly settledBefore: Map<number, SettledPart>;
  /** Undefined where the destination keeps no order over failed attempts. */
  readonly order: VisitorOrder | undefined;
  /** Health has counted all of the frame. */
  acknowledge(delivery: Delivery): void;
  onSettled(frame: HeldFrame, line: number): void;
  onFailed(error: unknown): void;
};

/** Lines before `next` are read; there are none before the first is. */
type UnopenedFrame = {
  readonly frame: HeldFrame;
  readonly data: Uint8Array;
  /** Lines an earlier dispatcher had settled. */
  readonly settledBefore: Uint8Array | undefined;
  lines: readonly string[] | undefined;
  next: number;
};

/** What a frame of the retry log has nothing of: it stays there until it is finished. */
const ofRetryLog = { seq: 0, storedAtMs: 0, settled: undefined, touch: () => undefined };

const notAttempted = { attempts: 0, firstAttemptAtMs: undefined };

/** Takes frames, reads them, and decides about each event: into its visitor's lane, or settled at once. */
export class Intake {
  readonly #parts: IntakeParts;
  /** Held, but not read to their ends: parsed events that wait would be copied around by every garbage collection. */
  #unopened: UnopenedFrame[] = [];

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Frames taken and not read to their ends. */
  get unopened(): number {
    return this.#unopened.length;
  }

  /** Takes a frame of the account's log; it is read when its events are wanted. */
  takeFrame(delivery: Delivery): void {
    const { counts, keeper } = this.#parts;
    counts.frames += 1;
    if (delivery.deliveries > 1 || delivery.seq <= this.#parts.handedOutSeq) counts.redelivered_frames += 1;
    const target = this.#parts.target();
    // A destination that is switched off moves on with its account and is sent nothing, then or later: what it missed
    // can be replayed by command.
    if (target !== undefined && !target.destination.isEnabled) {
      this.#parts.acknowledge(delivery);
      return;
    }
    if (target?.prepared === undefined) {
      delivery.release();
      return;
    }
    const frame = this.#hold(0, {
      seq: delivery.seq,
      storedAtMs: delivery.storedAtMs,
      settled: this.#settledOf(delivery),
      bytes: delivery.data.length,
      finished: () => {
        // What is noted as finished is stored before it is acknowledged.
        delivery.finish();
        keeper.commit(() => this.#parts.acknowledge(delivery));
      },
      abandoned: () => delivery.release(),
      touch: () => delivery.working(),
    });
    this.#unopened.push({
      frame,
      data: delivery.data,
      settledBefore: frame.settled?.slice(),
      lines: undefined,
      next: 0,
    });
  }

  /** Reads events in order as long as more are wanted. */
  readWhile(isMoreWanted: () => boolean): void {
    for (;;) {
      const [first] = this.#unopened;
      if (first === undefined || !isMoreWanted()) return;
      const lines = (first.lines ??= this.#open(first));
      const line = lines[first.next];
      if (line !== undefined && !hasBit(first.settledBefore, first.next)) this.#read(first.frame, line, first.next);
      first.next += 1;
      if (first.next < lines.length) continue;
      this.#unopened.shift();
      this.#parts.held.settle(first.frame);
    }
  }

  /** Frames that were handed back are not read. */
  forget(abandoned: ReadonlySet<HeldFrame>): void {
    this.#unopened = this.#unopened.filter(({ frame }) => !abandoned.has(frame));
  }

  /** What was not read yet is left to the next dispatcher. */
  forgetUnopened(): void {
    this.#unopened = [];
  }

  /** Takes a frame of the retry log. The rules that apply now decide anew. */
  takeRetries({ isReplay, records, bytes, finished, abandoned }: RetryFrame): void {
    if (this.#parts.target()?.plan === undefined) {
      abandoned();
      return;
    }
    const frame = this.#hold(records.length, {
      ...ofRetryLog,
      bytes,
      finished: () => this.#parts.keeper.commit(finished),
      abandoned,
    });
    for (const { event: resolved, attempts, firstAttemptAt } of records) {
      const firstAttemptAtMs = attempts === 0 ? undefined : firstAttemptAt;
      const item = new DispatchItem(frame, 'retried', wholeEvent(resolved), { attempts, firstAttemptAtMs });
      if (!isReplay) this.#parts.order?.returned(item);
      this.#admit(item, isReplay);
    }
    this.#parts.held.settle(frame);
  }

  /** Takes a parked event whose turn has come. The rules that apply now decide anew. */
  takeReleased({ record, follower, bytes, finished, abandoned }: ReleasedEvent): void {
    const frame = this.#hold(1, { ...ofRetryLog, bytes, finished, abandoned });
    const { event, attempts, firstAttemptAt } = record;
    const said = { attempts, firstAttemptAtMs: attempts === 0 ? undefined : firstAttemptAt };
    const item = new DispatchItem(frame, 'retried', wholeEvent(event), follower.attempted ?? said);
    item.follower = follower;
    this.#admit(item, false);
    this.#parts.held.settle(frame);
  }

  #open({ frame, data, settledBefore }: UnopenedFrame): readonly string[] {
    const lines = resolvedLines(data);
    const unsettled = lines.length - countBits(settledBefore, lines.length);
    this.#parts.counts.frame_events += lines.length;
    if (frame.seq <= this.#parts.handedOutSeq) this.#parts.counts.repeated_events += unsettled;
    frame.left += unsettled;
    return lines;
  }

  /** What an earlier dispatcher had settled of a frame. */
  #settledOf({ seq, storedAtMs }: Delivery): Uint8Array | undefined {
    const part = this.#parts.settledBefore.get(seq);
    if (part === undefined) return undefined;
    this.#parts.settledBefore.delete(seq);
    return part.storedAtMs === storedAtMs ? part.lines : undefined;
  }

  #read(frame: HeldFrame, line: string, index: number): void {
    const event = readResolvedLine(line);
    if (event === undefined) {
      this.#bury(frame, line, index);
      return;
    }
    if (event.resolved !== undefined) this.#parts.counts.heads_parsed += 1;
    const item = new DispatchItem(frame, 'fresh', event, notAttempted, index);
    try {
      this.#admit(item, true);
    } catch (error) {
      if (item.isReadable) throw error;
      this.#bury(frame, line, index);
    }
  }

  /** Holds a frame, with one count more than it has events: settled when all of them are admitted. */
  #hold(events: number, about: Omit<HeldFrame, 'left' | 'isStarted' | 'slot'>): HeldFrame {
    const frame: HeldFrame = { left: events + 1, isStarted: false, slot: -1, ...about };
    this.#parts.held.add(frame);
    return frame;
  }

  /** `isLast`: whatever waits of its visitor goes before it. */
  #admit(item: DispatchItem, isLast: boolean): void {
    const { counts, keeper, lanes, held, order } = this.#parts;
    counts.events += 1;
    const target = this.#parts.target();
    const decision = target?.plan?.decide(item.head, item);
    switch (decision?.kind) {
      case 'send': {
        if (decision.mapped !== undefined) item.mapped = decision.mapped;
        if (target?.prepared?.accepts?.(item) === false) {
          counts.skipped += 1;
          break;
        }
        if (isLast && order?.admits(item) === false) return;
        item.group = target?.prepared?.groupOf?.(item);
        lanes.add(item);
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
    if (item.lane === 'retried') order?.done(item);
    held.settle(item.frame, item.index);
  }

  #bury(frame: HeldFrame, line: string, index: number): void {
    const { onSettled, onFailed } = this.#parts;
    buryUnreadable(this.#parts, line).then(() => onSettled(frame, index), onFailed);
  }
}
