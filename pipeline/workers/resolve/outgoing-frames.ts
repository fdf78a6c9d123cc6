import { createHash } from 'node:crypto';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { encodeHashes } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';

/** A frame of resolved events of one account, ready to be published. */
export type OutgoingFrame = {
  readonly accountId: string;
  readonly payload: Uint8Array;
  readonly events: number;
  /** Packed hashes of its events' ids, in order. */
  readonly ids: string;
  /** The same for the same events, whoever writes them. */
  readonly msgId: string;
};

/** Collects resolved events into frames, one row of frames an account, in the order they are added. */
export class OutgoingFrames {
  readonly #frameBytesMax: number;
  readonly #open = new Map<string, { readonly writer: FrameWriter; readonly hashes: EventHash[] }>();
  readonly #closed: OutgoingFrame[] = [];

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  add(accountId: string, line: string, lineBytes: number, hash: EventHash): void {
    let frame = this.#open.get(accountId);
    if (frame === undefined) {
      frame = { writer: new FrameWriter(4 * 1024), hashes: [] };
      this.#open.set(accountId, frame);
    }
    const { writer, hashes } = frame;
    if (writer.events > 0 && writer.length + lineBytes + 1 > this.#frameBytesMax) {
      this.#close(accountId, writer, hashes.splice(0));
    }
    writer.appendLine(line);
    hashes.push(hash);
  }

  /** All frames; those of one account are in order. */
  finish(): OutgoingFrame[] {
    for (const [accountId, { writer, hashes }] of this.#open) this.#close(accountId, writer, hashes);
    this.#open.clear();
    return this.#closed;
  }

  #close(accountId: string, writer: FrameWriter, hashes: readonly EventHash[]): void {
    const ids = encodeHashes(hashes);
    const digest = createHash('sha256').update(accountId).update(ids).digest('base64url').slice(0, 27);
    this.#closed.push({ accountId, payload: writer.bytes(), events: writer.events, ids, msgId: `r-${digest}` });
    writer.reset();
  }
}
