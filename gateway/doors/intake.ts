import { uuidv7 } from 'uuidv7';
import { envelopeHead } from '../../shared/events/envelope.ts';
import type { EnvelopeKind } from '../../shared/events/envelope.ts';
import { partitionOf } from '../../shared/events/partition.ts';
import { botScore } from '../../shared/ingest/bot-score.ts';
import type { TimeWindow } from '../../shared/ingest/time-window.ts';
import type { Admission } from '../admission/admission.ts';
import type { PublishedSource } from '../admission/published-source.ts';
import type { FrameWaiter } from '../framing/frame-outcome.ts';
import type { GroupCommit } from '../framing/group-commit.ts';
import type { Exchange } from '../http/exchange.ts';

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
  readonly atMs: number;
  readonly ip: string | undefined;
  readonly ua: string | undefined;
  readonly trace: string | undefined;
};

const userAgentCharactersMax = 1000;
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Puts accepted events into envelopes and on their way to the log. */
export class Intake {
  readonly admission: Admission;
  readonly commit: GroupCommit;
  readonly settings: IntakeSettings;

  constructor(admission: Admission, commit: GroupCommit, settings: IntakeSettings) {
    this.admission = admission;
    this.commit = commit;
    this.settings = settings;
  }

  /** An id for an event that came without one. */
  newEventId(): string {
    return uuidv7();
  }

  contextOf(exchange: Exchange, source: PublishedSource): RequestContext {
    const { userAgent, traceparent: trace } = exchange.head;
    return {
      source,
      atMs: exchange.admittedAtMs,
      ip: this.admission.keptAddress(exchange, source),
      ua: source.excludesContext || userAgent === '' ? undefined : userAgent.slice(0, userAgentCharactersMax),
      trace: trace !== '' && traceparent.test(trace) ? trace : undefined,
    };
  }

  /** Adds an event whose JSON is body[start, end); the caller has asked the commit for room. */
  append(
    context: RequestContext,
    event: {
      readonly kind: EnvelopeKind;
      readonly id: string;
      readonly identity: Identity;
      readonly bot: number | undefined;
      readonly ctxJson?: string | undefined;
    },
    body: Uint8Array,
    start: number,
    end: number,
    waiter: FrameWaiter,
    tag: number,
  ): void {
    const { source } = context;
    const head = envelopeHead(source.envelopePrefix, {
      kind: event.kind,
      id: event.id,
      at: context.atMs,
      ip: context.ip,
      ua: context.ua,
      trace: context.trace,
      bot: event.bot,
      ctxJson: event.ctxJson,
    });
    const { userId, externalId, email } = event.identity;
    const identity = { userId, externalId, email, distinctId: event.id };
    const partition = partitionOf(source.accountId, identity, this.settings.partitions);
    this.commit.append(partition, head, body, start, end, waiter, tag);
  }

  /** The bot score of an event where its source asks for one. */
  botScoreOf(
    exchange: Exchange,
    source: PublishedSource,
    payload: ContextFields,
    defaults?: ContextFields,
  ): number | undefined {
    if (!source.scoresBots) return undefined;
    const own = payload.identityContext?.userAgent ?? defaults?.identityContext?.userAgent;
    const properties = payload.defaultProperties ?? defaults?.defaultProperties ?? {};
    return botScore(properties, own ?? exchange.head.userAgent);
  }
}

export type ContextFields = {
  readonly defaultProperties?: object | null;
  readonly identityContext?: { readonly userAgent?: string | null } | null;
};
