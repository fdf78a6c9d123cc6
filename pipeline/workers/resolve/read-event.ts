import { mergeMembers, stringifyExact } from '../../../shared/json/exact-numbers.ts';
import { consentMarks, readOwnConsent } from '../../../shared/contracts/events/consent-words.ts';
import type { ConsentWords } from '../../../shared/contracts/events/consent-words.ts';
import type { Envelope, EnvelopeBody } from '../../../shared/contracts/events/envelope.ts';
import type { PlainEnvelope } from '../../../shared/contracts/events/plain-envelope.ts';
import { integrationsKey, senderKey } from '../../../shared/contracts/events/resolved-event.ts';
import type { Integrations } from '../../../shared/contracts/events/resolved-event.ts';
import type { Stretch } from '../../../shared/json/byte-writer.ts';
import { isJsonObject, quoteJson } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { SourceRules } from './resolve-plan.ts';

/** An envelope taken apart: what it says about its visitor, and what it says happened. */
export type IngestEvent = {
  readonly name: string;
  readonly timeMs: number;
  /** A JSON object. */
  readonly properties: JsonParts;
  /** A JSON object. */
  readonly context: JsonParts;
  /** Undefined: every destination. */
  readonly integrations?: Integrations | undefined;
  /** Undefined: it says nothing of consent. */
  readonly consent?: ConsentWords | undefined;
};

/** JSON in the order it is written: text, what is taken over as the client wrote it, and text. */
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

/** The same of an event that is taken over as it is written. */
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

/** What an event says of consent, and whether the browser that sent it had Global Privacy Control on. */
function eventConsent({ body, gpc }: Envelope, { isVisitorsConnection }: SourceRules): ConsentWords | undefined {
  const hasGpc = gpc === true && isVisitorsConnection;
  if (body.consent === undefined) return hasGpc ? onlyGpc : undefined;
  const { words } = readOwnConsent(body.consent);
  if (hasGpc) words[consentMarks.gpc] = true;
  return Object.keys(words).length === 0 ? undefined : words;
}

/** When an event happened, in ms since the epoch: when it says, else when it was received. */
export const timeOf = ({ body, at }: Envelope): number => (typeof body.time === 'number' ? body.time : at);

/**
 * Which destinations the sender would have the event go to. Options of a destination count as a yes; what says nothing,
 * as `{}` and `{"All": true}` do, is nothing.
 */
function readIntegrations(given: unknown): Integrations | undefined {
  if (!isJsonObject(given)) return undefined;
  const said = Object.entries(given)
    .slice(0, integrationsMax)
    .filter(([name]) => name !== '__proto__')
    .map(([name, value]) => [name, value !== false] as const);
  const { All: all } = given;
  // Yes to some excludes no destination where all others may have it too.
  const keeps = all === false || said.some(([, wanted]) => !wanted);
  return keeps ? Object.fromEntries(said) : undefined;
}

/**
 * What the sender would have single destinations do: the options that Segment's and RudderStack's libraries give beside a
 * yes. They stand in the context, where every build reads them, and are addressed as `event.integrations.<name>.<option>`.
 */
function integrationOptions(given: unknown): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const options = Object.entries(given)
    .slice(0, integrationsMax)
    .filter(([name, value]) => name !== '__proto__' && isJsonObject(value) && Object.keys(value).length > 0);
  const found = Object.fromEntries(options);
  return options.length === 0 || JSON.stringify(found).length > optionsCharactersMax ? undefined : found;
}

const optionsCharactersMax = 16_384;

/** Destinations an event may name; more are not looked at. */
const integrationsMax = 100;

function eventProperties(body: EnvelopeBody): JsonObject {
  const properties = body.properties;
  const own = body.eventProperties;
  if (!isJsonObject(own)) return objectOf(properties);
  // The same thing under two names; on a clash of keys eventProperties wins.
  return isJsonObject(properties) ? mergeMembers(properties, own) : own;
}

/**
 * defaultProperties with the end user's network data: what the server that called said of it, else the client, else the
 * connection, where the visitor is at its other end. What is there otherwise is the sender's own, and kept apart as
 * `sender`. What a batch says holds where the row does not say otherwise.
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
  // Only who took the request knows who sent it.
  if (!isVisitors && !rules.excludeRequestContext && (ip ?? ua) !== undefined) context[senderKey] = connection;
  for (const identity of [ctx?.identityContext, body.identityContext]) {
    if (isJsonObject(identity)) setNetworkData(context, identity['ip'], identity['userAgent']);
  }
  return context;
}

/** What `readContext` makes, where all the names are different. */
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

/** What stands before and behind the members that a body has of its own: mostly what stood around those of the one before it. */
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

/** Members of two objects as those of one. */
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
