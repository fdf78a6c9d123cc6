import { keepDeadLetters } from './dead-letters.ts';
import type { CheckpointWriter } from './checkpoint-writer.ts';
import { publishFrames } from './publish-frames.ts';
import type { ResolvedPart } from './resolve-part.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { ResolverOptions } from './resolver-options.ts';

export type PartPublisherOptions = {
  readonly context: ResolverContext;
  readonly checkpoints: CheckpointWriter;
  /** Receives each frame that the log has stored. */
  readonly recorder: Awaited<ReturnType<ResolverOptions['openRecorder']>>;
  /** Called when the log has stored all frames and dead letters of a batch. */
  onPublished(part: ResolvedPart['part']): void;
  onFailure(error: unknown): void;
};

/** Publishes resolved batches, one after the other. */
export class PartPublisher {
  readonly #options: PartPublisherOptions;
  #publishing: Promise<void> = Promise.resolve();

  constructor(options: PartPublisherOptions) {
    this.#options = options;
  }

  /** Resolves when the log has everything that `publish` was called with so far. */
  get published(): Promise<void> {
    return this.#publishing;
  }

  publish(resolved: ResolvedPart): void {
    const { part, deadLetters } = resolved;
    if (part.events.length + part.left.length + deadLetters.length === 0) return;
    this.#publishing = this.#publishing.then(() => this.#bringToLog(resolved));
    this.#publishing.catch(this.#options.onFailure);
  }

  async #bringToLog({ part, frames, deadLetters, consents }: ResolvedPart): Promise<void> {
    const { context, checkpoints, recorder, onPublished } = this.#options;
    context.signal.throwIfAborted();
    await keepDeadLetters(context, deadLetters);
    // A withdrawal must be in the log before the event that states it is acknowledged.
    await context.withdrawals.announce(consents, context.signal);
    const { timeMs } = context.deduplication;
    for (const frame of await publishFrames(context, frames)) {
      const { seq, msgId, ids } = frame;
      checkpoints.note({ seq, msgId, ids: Buffer.from(ids, 'base64'), timeMs });
      recorder.note(frame);
    }
    await context.writer.verify();
    onPublished(part);
  }
}
