import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import { hasBit } from '../events/line-bits.ts';
import { retriesOfDestination } from '../../../../shared/contracts/subjects.ts';
import { decodePosition, encodePosition, positionKey } from '../../../../shared/contracts/destination-position.ts';
import type { DestinationPosition, WrittenPlace } from '../../../../shared/contracts/destination-position.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { ConsumerTakenError } from '../../../../shared/nats/consume/consumers.ts';
import { TakenMessages } from '../../../../shared/nats/consume/taken-messages.ts';
import type { FinishedMessages } from '../../../../shared/nats/consume/taken-messages.ts';
import { countBySubject } from '../../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { forgetHealthPlaces, readHealthPlaces } from './health-places.ts';
import { joinParts, readPlace, writePlace } from '../sources/dispatch-place.ts';
import type { SettledPart } from '../sources/dispatch-place.ts';

export type PositionOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly accountId: string;
  readonly destinationId: string;
  readonly instanceId: string;
  /** When the live version was published, in ms since the epoch: a destination without a stored position begins there. */
  readonly publishedAtMs: number;
};

type Claimed = {
  readonly revision: number;
  readonly entry: DestinationPosition;
  readonly finished: FinishedMessages | undefined;
  readonly parts: Map<number, SettledPart>;
};

/**
 * The position of a destination in its account's log, owned by the dispatcher that claimed it last. Each claim raises
 * the term, and each write names the entry it replaces, so an earlier owner can no longer write.
 */
export class OwnedPosition {
  /** The finished frames; undefined if no frame is finished yet. */
  readonly finished: FinishedMessages | undefined;
  /** Settled lines of unfinished frames, by sequence; the owner's inbox changes them. */
  readonly parts: Map<number, SettledPart>;
  /** The settled lines at the time of this claim. */
  readonly #linesBefore: ReadonlyMap<number, Uint8Array>;
  /** A lost position stays lost until the events up to this sequence are settled: its owner skips them. */
  skipUpTo = 0;
  readonly #options: PositionOptions;
  /** Resolves once another dispatcher is found to have claimed the destination. */
  readonly taken: Promise<ConsumerTakenError>;
  #onTaken: (error: ConsumerTakenError) => void = () => undefined;
  #entry: DestinationPosition;
  #revision: number;

  private constructor(options: PositionOptions, { entry, revision, finished, parts }: Claimed) {
    this.#options = options;
    this.#entry = entry;
    this.#revision = revision;
    this.finished = finished;
    this.parts = parts;
    this.#linesBefore = new Map([...parts].map(([seq, { lines }]) => [seq, Uint8Array.from(lines)]));
    this.taken = new Promise((resolve) => {
      this.#onTaken = resolve;
    });
  }

  /**
   * Claims the position. `acked`: the messages that the destination's consumer has acknowledged, if the log has the
   * consumer.
   */
  static async claim(options: PositionOptions, acked: FinishedMessages | undefined): Promise<OwnedPosition> {
    const { bucket, destinationId } = options;
    for (;;) {
      const found = await bucket.get(positionKey(destinationId));
      const before = found?.value === undefined ? undefined : decodePosition(found.value);
      const claimed = await joinKnown(options, before, acked);
      const revision = await bucket.putIfUnchanged(
        positionKey(destinationId),
        encodePosition(claimed.entry),
        found?.revision ?? 0,
      );
      if (revision !== undefined) return new OwnedPosition(options, { ...claimed, revision });
    }
  }

  /**
   * Whether an event was settled before this claim. If no finished frame is known, every event counts as settled.
   */
  hasSettled({ seq, line }: EventOrigin): boolean {
    if (this.finished === undefined) return true;
    const { upTo, above } = this.finished;
    return seq <= upTo || above.includes(seq) || hasBit(this.#linesBefore.get(seq), line);
  }

  /** Raised with each claim. */
  get term(): number {
    return this.#entry.term;
  }

  /** When the destination was first published, in ms since the epoch. */
  get sinceMs(): number {
    return this.#entry.sinceMs;
  }

  /** Whether this claim found an earlier position missing. */
  get isLost(): boolean {
    return this.#entry.lostAtMs !== undefined && this.#entry.place === undefined;
  }

  /** Stores the position. Throws ConsumerTakenError if another dispatcher has claimed the destination. */
  async store(place: WrittenPlace, oldestReference?: number): Promise<void> {
    const { bucket, destinationId, instanceId: owner } = this.#options;
    const { oldestReference: _, ...before } = this.#entry;
    const references = oldestReference === undefined ? {} : { oldestReference };
    const settled = this.isLost && newestOf(place) < this.skipUpTo ? {} : { place };
    const entry: DestinationPosition = { ...before, owner, ...settled, ...references };
    for (;;) {
      const revision = await bucket.putIfUnchanged(positionKey(destinationId), encodePosition(entry), this.#revision);
      if (revision !== undefined) {
        this.#entry = entry;
        this.#revision = revision;
        return;
      }
      // The entry has changed: an earlier write of this dispatcher may have been stored although its answer was lost.
      const found = await bucket.get(positionKey(destinationId));
      if (found?.value === undefined || decodePosition(found.value).term !== entry.term) {
        const error = new ConsumerTakenError(`destination ${destinationId} was taken over by another dispatcher`);
        this.#onTaken(error);
        throw error;
      }
      this.#revision = found.revision;
    }
  }
}

/** The newest settled frame. Frames are skipped in their order, so those before a skipped frame are settled too. */
const newestOf = ({ upTo, above }: WrittenPlace): number => above.reduce((seq, step) => seq + step, upTo);

/**
 * Joins all records of finished frames: whichever dispatcher of this or an earlier build wrote a record, it is true.
 */
async function joinKnown(
  { connection, accountId, destinationId, instanceId: owner, publishedAtMs }: PositionOptions,
  before: DestinationPosition | undefined,
  acked: FinishedMessages | undefined,
): Promise<Omit<Claimed, 'revision'>> {
  const health = await readHealthPlaces(connection, destinationId);
  const own = before?.place === undefined ? [] : [readPlace(before.place)];
  const places = [...own, ...health.places];
  const known = [...places.map(({ finished }) => finished), ...(acked === undefined ? [] : [acked])];
  const isLost =
    before === undefined && known.length === 0 && (health.isKnown || (await hasRetries(connection, destinationId)));
  const entry: DestinationPosition = {
    ...(before === undefined || before.retired === true ? { v: 1, sinceMs: publishedAtMs } : before),
    term: (before?.term ?? 0) + 1,
    accountId,
    owner,
    ...(isLost ? { lostAtMs: Date.now() } : {}),
  };
  if (isLost) return { entry, finished: { upTo: 0, above: [], storedUntilMs: 0 }, parts: new Map() };
  if (known.length === 0) return { entry, finished: undefined, parts: new Map() };
  const joined = new TakenMessages(0, 0);
  for (const finished of known) joined.restore(finished);
  const [{ finished }, parts] = [joined, joinParts(places)];
  // A lost position stays lost until its owner has stored a new one.
  if (entry.lostAtMs !== undefined && before?.place === undefined) return { entry, finished, parts };
  // The entry has the joined position from now on, since the consumer, which is one of the records, is deleted next.
  return { entry: { ...entry, place: writePlace({ finished, parts: [...parts.values()] }) }, finished, parts };
}

async function hasRetries(connection: LogConnection, destinationId: string): Promise<boolean> {
  return (await countBySubject(connection, streams.retry, retriesOfDestination(destinationId))).size > 0;
}

/**
 * Marks the position of a deleted destination: if the destination is published again, it starts at that publication.
 * The entry stays, since a missing entry would count as a lost position.
 */
export async function retirePosition(
  { positions, health }: { readonly positions: Bucket; readonly health: Bucket },
  destinationId: string,
): Promise<void> {
  await forgetHealthPlaces(health, destinationId);
  for (;;) {
    const found = await positions.get(positionKey(destinationId));
    if (found?.value === undefined) return;
    const { place: _, ...entry } = decodePosition(found.value);
    const retired = encodePosition({ ...entry, term: entry.term + 1, retired: true });
    if ((await positions.putIfUnchanged(positionKey(destinationId), retired, found.revision)) !== undefined) return;
  }
}
