import { isStoppedAsBot } from '../../../shared/admission/bot-score.ts';
import { bodyBytes, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import type { Envelope, EnvelopeBody } from '../../../shared/contracts/events/envelope.ts';
import { readPlainEnvelope } from '../../../shared/contracts/events/plain-envelope.ts';
import type { PlainEnvelope } from '../../../shared/contracts/events/plain-envelope.ts';
import { eventScope, hashEvent, hashWithoutGroup } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import type { ByteWriter } from '../../../shared/json/byte-writer.ts';
import { denialsIn } from '../../../shared/visitors/consent-denials.ts';
import { cleanEmail, cleanText, namedBy, stillNaming } from '../../../shared/visitors/visitor-identity.ts';
import { defaultIdentityRules } from '../../../shared/visitors/identity-rules.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { encodeEvent } from './encode-event.ts';
import { judgeEvent } from './judge-event.ts';
import type { HeldEvent } from './judge-event.ts';
import { drops, letterOf } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import { objectOf, readEvent, readPlainEvent } from './read-event.ts';
import type { IngestEvent } from './read-event.ts';
import { readTouch } from './read-touch.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { SourceRules } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { WaitingEvent } from './waiting-events.ts';

/**
 * An admitted event that waits for its visitor. It is kept as bytes, because every garbage collection would copy
 * hundreds of parsed events or their texts.
 */
export type Candidate = {
  readonly accepted: WaitingEvent;
  readonly hash: EventHash;
  /** Set for an event released from quarantine: its hash before the release, which its client's repetitions have. */
  readonly unreleased: EventHash | undefined;
  /** Where the event's part starts and ends in the written JSON. */
  readonly json: { readonly start: number; readonly end: number };
  /** Number of bytes that the client sent for the event. */
  readonly sentBytes: number;
  readonly touch: VisitorTouch;
  /** Set if the event is quarantined, or dropped after its visitor has its refusals. */
  readonly held?: HeldEvent;
  /** Time of the event's properties, in ms since the epoch: its own time or its receipt, whichever is earlier. */
  readonly saidAtMs: number;
};

type AdmitContext = Pick<ResolverContext, 'identity' | 'deduplication' | 'plans' | 'counts' | 'plan'> & {
  readonly writer: ByteWriter;
};

/** Reads an event and writes its part of the line if it is new and its account's live version accepts it. */
export function admitEvent(context: AdmitContext, accepted: WaitingEvent): Candidate | Leaving {
  try {
    const plain = readPlainEnvelope(accepted.bytes, accepted.start, accepted.end);
    return plain === undefined ? admitParsed(context, accepted) : admitPlain(context, accepted, plain);
  } catch (error) {
    return letterOf(accepted, error instanceof Error ? error.message : String(error));
  }
}

/** Admits an event by copying the JSON as its client wrote it. */
function admitPlain(context: AdmitContext, accepted: WaitingEvent, plain: PlainEnvelope): Candidate | Leaving {
  const { envelope, bodyBytes } = plain;
  return admit(context, accepted, {
    envelope,
    sentBytes: bodyBytes,
    read: (rules) => readPlainEvent(plain, rules),
    parse: () => readEnvelope(accepted.bytes.toString('utf8', accepted.start, accepted.end)),
  });
}

function admitParsed(context: AdmitContext, accepted: WaitingEvent): Candidate | Leaving {
  context.counts.events_parsed += 1;
  const text = accepted.bytes.toString('utf8', accepted.start, accepted.end);
  const envelope = readEnvelope(text);
  return admit(context, accepted, {
    envelope,
    sentBytes: bodyBytes(text, envelope),
    read: (rules) => readEvent(envelope, rules),
    parse: () => envelope,
  });
}

type ReadEnvelope = {
  readonly envelope: Envelope;
  readonly sentBytes: number;
  read(rules: SourceRules): IngestEvent;
  /** Returns the whole envelope; `envelope` may have only some of its fields. */
  parse(): Envelope;
};

function admit(
  context: AdmitContext,
  accepted: WaitingEvent,
  { envelope, sentBytes, read, parse }: ReadEnvelope,
): Candidate | Leaving {
  const plan = context.plans(envelope.account) ?? openResolvePlan;
  const rules = plan.sourceRules(envelope.source);
  const { isSigned } = rules;
  const options = { keepsGpc: plan.keepsGpc && rules.isVisitorsConnection, identity: plan.identity, isSigned };
  const { touch, placeholders, namesTwo, isUnverified } = readTouch(envelope, rules.keyTrust, options);
  // The hash uses the default rules, so that a retry is recognised even if the account's settings have changed since.
  const named = plan.identity === defaultIdentityRules ? touch : readTouch(envelope, rules.keyTrust).touch;
  const { release } = envelope;
  const scope = eventScope(envelope);
  const own = hashEvent(scope, envelope.id, named.claim);
  // Each release of a quarantined event passes the deduplication once.
  const passScope = release === undefined ? scope : `${scope}\nrelease ${release}`;
  const hash = release === undefined ? own : hashEvent(passScope, envelope.id, named.claim);
  const unreleased = release === undefined ? undefined : own;
  const { storedAtMs } = accepted.origin.frame;
  const { claim } = named;
  if (wasKnownEarlier(context, envelope, { scope: passScope, claim, storedAtMs })) return drops.duplicate;
  if (!context.deduplication.add(hash, storedAtMs)) return drops.duplicate;
  if (unreleased !== undefined) context.deduplication.add(unreleased, storedAtMs);
  context.counts.placeholder_identifiers += placeholders;
  if (namesTwo) context.counts.people_kept_apart += 1;
  if (isUnverified) context.counts.user_hashes_refused += 1;
  if (placeholders > 0 || namesTwo || isUnverified) {
    const { account: accountId, source: sourceId, at: receivedAtMs } = envelope;
    const of = { accountId, sourceId, receivedAtMs };
    context.identity.add({ ...of, reason: 'blocked', count: placeholders });
    context.identity.add({ ...of, reason: 'keptApart', count: namesTwo ? 1 : 0 });
    context.identity.add({ ...of, reason: 'userHash', count: isUnverified ? 1 : 0 });
  }
  const event = read(rules);
  // Test events are only shown, so neither bot control nor the list of allowed events drops them.
  const isTest = envelope.test === true;
  if (!isTest && isStoppedAsBot(rules.botControl, envelope.bot)) return drops.bot;
  const { name } = event;
  const { trackingPlan, versionNumber } = plan;
  const judged =
    trackingPlan &&
    judgeEvent(context, trackingPlan, { accepted, name, timeMs: event.timeMs, isTest, versionNumber, parse });
  const start = context.writer.length;
  const saidAtMs = Math.min(event.timeMs, envelope.at);
  // The visitor of a quarantined event is looked up even if it refuses nothing: an erased visitor's is not quarantined.
  const hold = (held: HeldEvent): Candidate => {
    const json = { start, end: start };
    return { accepted, hash, unreleased, json, sentBytes, touch: onlyRefusals(touch), held, saidAtMs };
  };
  const drop = (leaving: Leaving): Candidate | Leaving =>
    onlyRefusals(touch).given.length === 0 ? leaving : hold({ leaving, show: () => undefined });
  if (judged !== undefined && 'held' in judged) return hold(judged.held);
  if (judged !== undefined && 'leaving' in judged) return drop(judged.leaving);
  if (!isTest && !plan.allows(name)) return drop(drops.notAllowed);
  const changed = judged?.changed;
  encodeEvent(context.writer, envelope, changed ? readEvent(changed, rules) : event, plan.versionNumber);
  const json = { start, end: context.writer.length };
  const given = changed ? stillNaming(readTouch(changed, rules.keyTrust, options).touch, namedBy(touch)) : touch;
  return { accepted, hash, unreleased, json, sentBytes, touch: given, saidAtMs };
}

/**
 * What an event gives its visitor if it is not resolved: the visitor's refusals of consent, which also concern events
 * that are resolved already.
 */
function onlyRefusals(touch: VisitorTouch): VisitorTouch {
  if (touch.sentWith === 'test') return { ...touch, given: [] };
  const given = touch.given.flatMap((layer) => {
    const consent = denialsIn(layer['consent']);
    return consent === undefined ? [] : [{ consent }];
  });
  return { ...touch, given, isForKnown: true };
}

/**
 * Whether an earlier build recorded the event: its hash had no group, and in one build covered the account instead of
 * the source. For one window after an upgrade such hashes may be in the table; without these look-ups a redelivered
 * event would be resolved twice.
 */
function wasKnownEarlier(
  { deduplication }: AdmitContext,
  { account, id, body, release }: Envelope,
  { scope, claim, storedAtMs }: { scope: string; claim: VisitorTouch['claim']; storedAtMs: number },
): boolean {
  if (!deduplication.mayRepeatUngrouped(storedAtMs)) return false;
  if (deduplication.has(hashWithoutGroup(scope, id, claim))) return true;
  return release === undefined && deduplication.has(hashWithoutGroup(account, id, earlierClaim(body)));
}

/** The identifiers that an earlier build hashed: all of them, also placeholders and a second externalId. */
function earlierClaim({ userId, externalId, email, userProperties }: EnvelopeBody) {
  const own = objectOf(userProperties);
  const distinct = (...texts: (string | undefined)[]): string[] => [
    ...new Set(texts.filter((text) => text !== undefined)),
  ];
  return {
    userId: cleanText(userId),
    externalIds: distinct(cleanText(externalId), cleanText(own['external_id'])),
    emails: distinct(cleanEmail(email), cleanEmail(own['email'])),
  };
}
