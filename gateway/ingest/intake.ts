import { endHead, startHead } from '../../shared/contracts/events/envelope.ts';
import type { EnvelopeEnd } from '../../shared/contracts/events/envelope.ts';
import { normalizeEmail, partitionOfText, seededPartitionOf } from '../../shared/contracts/events/partition.ts';
import { botScore } from '../../shared/admission/bot-score.ts';
import type { PlainRow } from '../json/scan-body.ts';
import type { TimeWindow } from '../payload/time-window.ts';
import type { Admission } from './admission.ts';
import type { PublishedSource } from './published-source.ts';
import type { FrameWaiter } from '../commit/frame-outcome.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Exchange } from '../http/exchange.ts';
import { createEventIds } from './event-ids.ts';
import type { EventIds } from './event-ids.ts';

export type IntakeSettings = {
  readonly partitions: number;
  readonly timeWindow: TimeWindow;
};

/** What decides an event's visitor, and so its partition. */
export type Identity = {
  readonly userId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
};

/** What the events of one request have in common. */
export type RequestContext = {
  readonly source: PublishedSource;
  /** The beginning of their envelopes. */
  readonly head: string;
};

const userAgentCharactersMax = 1000;
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Puts accepted events into envelopes and on their way to the log. */
export class Intake {
  readonly admission: Admission;
  readonly commit: GroupCommit;
  readonly settings: IntakeSettings;
  /** Makes the id of an event that came without one. */
  readonly newEventId: EventIds = createEventIds();

  constructor(admission: Admission, commit: GroupCommit, settings: IntakeSettings) {
    this.admission = admission;
    this.commit = commit;
    this.settings = settings;
  }

  /** `ctxJson` is what a batch says for all of its rows. */
  contextOf(exchange: Exchange, source: PublishedSource, ctxJson?: string): RequestContext {
    const { userAgent, traceparent: trace } = exchange.head;
    const head = startHead(source.envelopePrefix, {
      at: exchange.admittedAtMs,
      ip: this.admission.keptAddress(exchange, source),
      ua: source.excludesContext || userAgent === '' ? undefined : userAgent.slice(0, userAgentCharactersMax),
      trace: trace !== '' && traceparent.test(trace) ? trace : undefined,
      ctxJson,
    });
    return { source, head };
  }

  /** Adds an event whose JSON is body[start, end); the caller has asked the commit for room. */
  append(
    { source, head }: RequestContext,
    event: EnvelopeEnd & { readonly identity: Identity },
    body: Uint8Array,
    start: number,
    end: number,
    waiter: FrameWaiter,
    tag: number,
  ): void {
    const { userId, externalId, email } = event.identity;
    const identity = { userId, externalId, email, distinctId: event.id };
    const partition = seededPartitionOf(source.partitionSeed, identity, this.settings.partitions);
    this.commit.append(partition, endHead(head, event), body, start, end, waiter, tag);
  }

  /** Adds a plain row of a batch, with the head that was made for it. */
  appendPlain(
    { partitionSeed }: PublishedSource,
    head: string | Uint8Array,
    row: PlainRow,
    body: Uint8Array,
    start: number,
    end: number,
    waiter: FrameWaiter,
    tag: number,
  ): void {
    const { partitions } = this.settings;
    const email = normalizeEmail(row.email);
    const partition =
      email === undefined
        ? partitionOfText(partitionSeed, body, row.ownStart, row.ownEnd, partitions)
        : seededPartitionOf(partitionSeed, { email, distinctId: email }, partitions);
    this.commit.append(partition, head, body, start, end, waiter, tag);
  }

  /** The bot score of the event whose JSON is body[start, end), where its source asks for one. */
  botScoreOf(
    exchange: Exchange,
    source: PublishedSource,
    body: Buffer,
    start: number,
    end: number,
    defaults?: ContextFields,
  ): number | undefined {
    if (!source.scoresBots) return undefined;
    const event = JSON.parse(body.toString('utf8', start, end)) as ContextFields;
    const own = event.identityContext?.userAgent ?? defaults?.identityContext?.userAgent;
    const properties = event.defaultProperties ?? defaults?.defaultProperties ?? {};
    return botScore(properties, own ?? exchange.head.userAgent);
  }
}

export type ContextFields = {
  readonly defaultProperties?: object | null;
  readonly identityContext?: { readonly userAgent?: string | null } | null;
};
