import { startHead } from '../../shared/contracts/events/envelope.ts';
import type { EnvelopeEnd } from '../../shared/contracts/events/envelope.ts';
import { normalizeEmail, partitionOfText, seededPartitionOf } from '../../shared/contracts/events/partition.ts';
import type { EventIdentity } from '../../shared/contracts/events/partition.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { botScore } from '../../shared/admission/bot-score.ts';
import type { PlainRow } from '../payload/scan-body.ts';
import type { Admission, Admitted } from './admission.ts';
import type { PublishedSource } from './published-sources.ts';
import type { EventSlice, FrameWaiter } from '../commit/frame.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Exchange } from '../http/exchange.ts';
import { createEventIds } from './event-ids.ts';
import type { EventIds } from './event-ids.ts';

/** An event for an envelope. `bot`: the event's bot score, if its source asks for one. */
export type AcceptedEvent = EnvelopeEnd & { readonly identity: EventIdentity };

const userAgentCharactersMax = 1000;
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Puts accepted events into envelopes and into frames for the log. */
export class Intake {
  readonly #admission: Admission;
  readonly #commit: GroupCommit;
  readonly #partitions: number;
  /** Makes the id of an event that came without one. */
  readonly newEventId: EventIds = createEventIds();

  constructor(admission: Admission, commit: GroupCommit, partitions: number) {
    this.#admission = admission;
    this.#commit = commit;
    this.#partitions = partitions;
  }

  /** Whether the log accepts this much more of an account now. Call it before events are added. */
  hasRoom(events: number, bytes: number, accountId: string): boolean {
    return this.#commit.hasRoom(events, bytes, accountId);
  }

  /** The start of a request's envelopes. `ctxJson`: the context that a batch gives for all of its rows. */
  startOf(exchange: Exchange, { source, atMs }: Admitted, ctxJson?: string): string {
    const { userAgent, traceparent: trace } = exchange.head;
    return startHead(source.envelopePrefix, {
      at: atMs,
      ip: this.#admission.keptAddress(exchange, source),
      ua: source.excludesContext || userAgent === '' ? undefined : userAgent.slice(0, userAgentCharactersMax),
      trace: trace !== '' && traceparent.test(trace) ? trace : undefined,
      gpc: exchange.head.hasGpc,
      ctxJson,
    });
  }

  /** The partition of an event of this source. */
  partitionOf({ partitionSeed }: PublishedSource, { identity, id }: AcceptedEvent): number {
    const { userId, externalId, email, userProperties } = identity;
    const whole = { userId, externalId, email, userProperties, distinctId: id };
    return seededPartitionOf(partitionSeed, whole, this.#partitions);
  }

  /** Like `partitionOf`, for a plain row of a batch, whose texts are in the body. */
  partitionOfRow({ partitionSeed }: PublishedSource, row: PlainRow, body: Buffer): number {
    const email = normalizeEmail(row.email);
    return email === undefined
      ? partitionOfText(partitionSeed, body, row.ownStart, row.ownEnd, this.#partitions)
      : seededPartitionOf(partitionSeed, { email, distinctId: email }, this.#partitions);
  }

  /** Adds an event after its head and copies its bytes. The waiter gets `tag` back with the outcome. */
  append(partition: number, head: string | Uint8Array, slice: EventSlice, waiter: FrameWaiter, tag: number): void {
    this.#commit.append(partition, head, slice, waiter, tag);
  }

  /** The bot score of an event, if its source asks for one. `defaults`: the fields of its batch, if it is a row. */
  botScoreOf(
    exchange: Exchange,
    source: PublishedSource,
    { body, start, end }: EventSlice,
    defaults?: ContextFields,
  ): number | undefined {
    if (!source.scoresBots) return undefined;
    const event = JSON.parse(body.toString('utf8', start, end)) as ContextFields;
    const properties: JsonObject = { ...defaults?.defaultProperties, ...event.defaultProperties };
    const said = [event, defaults].map((one) => one?.identityContext?.userAgent);
    const own = source.isFromVisitors ? exchange.head.userAgent : undefined;
    return botScore(properties, [...said, properties['user_agent']].find(isUserAgent) ?? own);
  }
}

const isUserAgent = (value: unknown): value is string => typeof value === 'string' && value !== '';

export type ContextFields = {
  readonly defaultProperties?: object | null;
  readonly identityContext?: { readonly userAgent?: string | null } | null;
};
