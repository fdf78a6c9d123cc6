import { setTimeout as wait } from 'node:timers/promises';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { FrameReader } from '../worker/consumer-worker.ts';
import type { AccountQueues } from './account-queues.ts';
import { readFrames } from './read-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import type { WaitingEvents } from './waiting-events.ts';

export type FrameIntakeOptions = {
  readonly context: ResolverContext;
  readonly reader: FrameReader;
  readonly waiting: WaitingEvents;
  readonly queues: AccountQueues;
  readonly unfinished: UnfinishedFrames<LogMessage>;
  /** Called when lines of frames were copied to queues, so that frames may be finished. */
  onCopied(): void;
  onFailure(error: unknown): void;
};

/** Takes frames of a partition and divides them into waiting events. */
export class FrameIntake {
  readonly #options: FrameIntakeOptions;
  /** The call that waits for frames or reads them, if one is in progress. */
  #reading: Promise<void> | undefined;
  #isAtEnd = false;
  #tookAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrameIntakeOptions) {
    this.#options = options;
  }

  /** Whether there may be more frames, and room for their events. */
  get mayRead(): boolean {
    const { queues, context } = this.#options;
    return !this.#isAtEnd && queues.bytesBeside < context.settings.waitingBytesMax;
  }

  /** Whether more frames can be read although events are already waiting. */
  get hasRoomForMore(): boolean {
    const { reader, waiting } = this.#options;
    return !reader.isWatching && !waiting.isEmpty && reader.buffered > 0 && this.mayRead;
  }

  /** Reads as many frames as there is room for. Concurrent calls share one wait for frames. */
  read(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#takeAndCut();
      this.#reading.catch(this.#options.onFailure);
    }
    return this.#reading;
  }

  async #takeAndCut(): Promise<void> {
    const { context, queues, unfinished, onCopied } = this.#options;
    // Dividing frames costs little compared with the later steps, so every frame for which there is room is divided.
    do {
      const messages = await this.#take();
      this.#isAtEnd = messages.length === 0;
      if (this.#isAtEnd) void queues.stop();
      await context.writer.verify();
      const waiting: Pick<WaitingEvents, 'add' | 'addLetters'> = {
        add: (lines) => void (queues.take(lines) || this.#options.waiting.add(lines)),
        addLetters: (letters) => this.#options.waiting.addLetters(letters),
      };
      await readFrames(context, messages, { waiting, unfinished });
      if (await queues.copied()) onCopied();
    } while (this.hasRoomForMore);
    this.#reading = undefined;
  }

  async #take(): Promise<readonly LogMessage[]> {
    const { context, reader, waiting } = this.#options;
    const { counts, settings } = context;
    const earlyMs = this.#tookAtMs + settings.takeEveryMs - performance.now();
    // Frames that arrive during this wait share a visitor query, a frame and a write to disk with those already here.
    if (earlyMs >= 1 && waiting.isEmpty && reader.buffered < settings.framesPerTake) await wait(earlyMs);
    const messages = await reader.take(settings.framesPerTake);
    this.#tookAtMs = performance.now();
    counts.frames += messages.length;
    for (const message of messages) {
      if (message.timesHandedOut > 1 || message.seq <= reader.handedOutSeq) counts.redelivered_frames += 1;
    }
    return messages;
  }
}
