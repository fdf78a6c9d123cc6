import { mergeMembers, stringifyExact } from '../../../shared/json/exact-numbers.ts';
import { consentMarks, readOwnConsent } from '../../../shared/contracts/events/consent-words.ts';
import type { ConsentWords } from '../../../shared/contracts/events/consent-words.ts';
import type { Envelope, EnvelopeBody } from '../../../shared/contracts/events/envelope.ts';
import { integrationOptions, integrationsMax } from '../../../shared/contracts/events/integration-options.ts';
import type { PlainEnvelope } from '../../../shared/contracts/events/plain-envelope.ts';
import { integrationsKey, senderKey } from '../../../shared/contracts/events/resolved-event.ts';
import type { Integrations } from '../../../shared/contracts/events/resolved-event.ts';
import type { Stretch } from '../../../shared/json/byte-writer.ts';
import { isJsonObject, quoteJson } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { SourceRules } from './resolve-plan.ts';

/** The parts of an envelope that describe the event itself. */
export type IngestEvent = {
  readonly name: string;
  readonly timeMs: number;
  /** A JSON object. */
  readonly properties: JsonParts;
  /** A JSON object. */
  readonly context: JsonParts;
  /** If undefined, every destination may receive the event. */
  readonly integrations?: Integrations | undefined;
  /** Undefined if the event states no consent. */
  readonly consent?: ConsentWords | undefined;
};

/** JSON in three parts, in the order of writing: text, a copy of the client's own bytes, and text. */
export type JsonParts = { readonly before: string; readonly taken: Stretch | undefined; readonly behind: string };

const textOnly = (json: string): JsonParts => ({ before: json, taken: undefined, behind: '' });

export function readEvent(envelope: Envelope, rules: SourceRules): IngestEvent {
  const { body } = envelope;
  const identify = envelope.kind === 'identify';
  const properties = identify ? objectOf(body.userProperties) : eventProperties(body);
  return {
    name: identify ? '$identify' : String(body.event),
    timeMs: timeOf(envelope),
    properties: textOnly(stringifyExact(properties, properties)),
    context: textOnly(stringifyExact(readContext(envelope, rules), envelope)),
    integrations: body.integrations === undefined ? undefined : readIntegrations(body.integrations),
    consent: eventConsent(envelope, rules),
  };
}

/** As `readEvent`, for an event that is copied as bytes. */
export function readPlainEvent(plain: PlainEnvelope, rules: SourceRules): IngestEvent {
  const { envelope, properties } = plain;
  return {
    name: String(envelope.body.event),
    timeMs: timeOf(envelope),
    properties: properties === undefined ? noProperties : { before: '', taken: properties, behind: '' },
    context: plainContext(plain, rules),
    integrations: undefined,
    consent: envelope.gpc === true && rules.isVisitorsConnection ? onlyGpc : undefined,
  };
}

const noProperties = textOnly('{}');
export const onlyGpc: ConsentWords = { [consentMarks.gpc]: true };

/** The consent that the event states, and the Global Privacy Control signal of the browser that sent it. */
function eventConsent({ body, gpc }: Envelope, { isVisitorsConnection }: SourceRules): ConsentWords | undefined {
  const hasGpc = gpc === true && isVisitorsConnection;
  if (body.consent === undefined) return hasGpc ? onlyGpc : undefined;
  const { words } = readOwnConsent(body.consent);
  if (hasGpc) words[consentMarks.gpc] = true;
  return Object.keys(words).length === 0 ? undefined : words;
}

/** How far an identify's time may lie from its receipt, in ms: ten years back, because the gateway's limit is a setting. */
const identifyTimes = { pastMsMax: 3_650 * 86_400_000, aheadMsMax: 300_000 };

/**
 * Time of an event, in ms since the epoch: the time that it states, or else its receipt. Gateways check no time of an
 * identify, where it is an unknown key: one that is no time in ms, such as one in seconds, is ignored.
 */
export function timeOf({ kind, body, at }: Envelope): number {
  const { time } = body;
  if (typeof time !== 'number') return at;
  const { pastMsMax, aheadMsMax } = identifyTimes;
  const isStated = kind !== 'identify' || (time >= at - pastMsMax && time <= at + aheadMsMax);
  return isStated ? time : at;
}

/**
 * The destinations that the sender allows or excludes. An object with options for a destination counts as true. Returns
 * undefined if nothing is excluded, as by `{}` and `{"All": true}`.
 */
function readIntegrations(given: unknown): Integrations | undefined {
  if (!isJsonObject(given)) return undefined;
  const said = Object.entries(given)
    .filter(([name]) => name !== '__proto__')
    .map(([name, value]) => [name, value !== false] as const);
  const exclusions = said.filter(([, wanted]) => !wanted).length;
  // Allowing some destinations has no effect if all others are allowed too.
  if (exclusions === 0) return undefined;
  let rest = integrationsMax - exclusions;
  return Object.fromEntries(said.filter(([, wanted]) => !wanted || (rest -= 1) >= 0));
}

function eventProperties(body: EnvelopeBody): JsonObject {
  const properties = body.properties;
  const own = body.eventProperties;
  if (!isJsonObject(own)) return objectOf(properties);
  // `properties` and `eventProperties` mean the same; if both have a key, eventProperties wins.
  return isJsonObject(properties) ? mergeMembers(properties, own) : own;
}

/**
 * The event's defaultProperties and the end user's network data: what a calling server reported, or else what the
 * client reported, or else that of the connection if it is the visitor's. The network data of any other connection
 * belongs to the sender, and goes to `sender`. A batch's fields are defaults for its rows.
 */
function readContext({ body, ctx, ip, ua }: Envelope, rules: SourceRules): JsonObject {
  const connection: Record<string, unknown> = {};
  if (!rules.excludeRequestContext) setNetworkData(connection, ip, ua);
  const isVisitors = rules.isVisitorsConnection;
  const context = mergeMembers(
    isVisitors ? connection : undefined,
    ctx?.defaultProperties,
    objectOf(body.defaultProperties),
  );
  const options = integrationOptions(body.integrations);
  if (options !== undefined) context[integrationsKey] = options;
  // Set after the request's fields, so that none of them replaces it: only the gateway knows who sent the request.
  if (!isVisitors && !rules.excludeRequestContext && (ip ?? ua) !== undefined) context[senderKey] = connection;
  for (const identity of [ctx?.identityContext, body.identityContext]) {
    if (isJsonObject(identity)) setNetworkData(context, identity['ip'], identity['userAgent']);
  }
  return context;
}

/** Has the same result as `readContext` if no name occurs twice. */
function plainContext({ envelope, batchMembers, defaultMembers: taken }: PlainEnvelope, rules: SourceRules): JsonParts {
  const { before, behind } = aroundContext({
    ip: envelope.ip,
    ua: envelope.ua,
    batchMembers,
    hasOwn: taken !== undefined,
    rules,
  });
  return { before, taken, behind };
}

type AroundContext = {
  readonly ip: string | undefined;
  readonly ua: string | undefined;
  readonly batchMembers: string;
  readonly hasOwn: boolean;
  readonly rules: SourceRules;
};

/** The text before and after a body's own members, which is usually the same as for the previous body. */
function aroundContext(of: AroundContext): Pick<JsonParts, 'before' | 'behind'> {
  if (lastAround === undefined || !isSameAround(of, lastAround.of)) lastAround = { of, ...writeAround(of) };
  return lastAround;
}

let lastAround: (Pick<JsonParts, 'before' | 'behind'> & { readonly of: AroundContext }) | undefined;

const isSameAround = (one: AroundContext, other: AroundContext): boolean =>
  one.ip === other.ip &&
  one.ua === other.ua &&
  one.batchMembers === other.batchMembers &&
  one.hasOwn === other.hasOwn &&
  one.rules === other.rules;

function writeAround({ ip, ua, batchMembers, hasOwn, rules }: AroundContext): Pick<JsonParts, 'before' | 'behind'> {
  const isKept = !rules.excludeRequestContext && (ip ?? ua) !== undefined;
  const connection = isKept ? networkMembers(ip, ua) : '';
  const first = rules.isVisitorsConnection ? joined(connection, batchMembers) : batchMembers;
  const before = first === '' || !hasOwn ? `{${first}` : `{${first},`;
  if (!isKept || rules.isVisitorsConnection) return { before, behind: '}' };
  return { before, behind: `${first === '' && !hasOwn ? '' : ','}"${senderKey}":{${connection}}}` };
}

/** Joins the members of two JSON objects. */
const joined = (one: string, other: string): string => (one === '' || other === '' ? one + other : `${one},${other}`);

function networkMembers(ip: string | undefined, userAgent: string | undefined): string {
  const address = ip === undefined || ip === '' ? '' : `"ip":${quoteJson(ip)}`;
  const agent = userAgent === undefined || userAgent === '' ? '' : `"user_agent":${quoteJson(userAgent)}`;
  return joined(address, agent);
}

function setNetworkData(context: Record<string, unknown>, ip: unknown, userAgent: unknown): void {
  if (typeof ip === 'string' && ip !== '') context['ip'] = ip;
  if (typeof userAgent === 'string' && userAgent !== '') context['user_agent'] = userAgent;
}

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
