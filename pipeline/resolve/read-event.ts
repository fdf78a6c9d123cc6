import type { Envelope } from '../../shared/events/envelope.ts';
import { isJsonObject } from '../../shared/process/json.ts';
import type { JsonObject } from '../../shared/process/json.ts';
import { cleanJson } from '../../shared/visitors/clean-json.ts';
import { anonymousVisitorId, cleanEmail, cleanText } from '../../shared/visitors/visitor-identity.ts';
import type { VisitorClaim } from '../../shared/visitors/visitor-identity.ts';
import type { VisitorTouch } from '../../shared/visitors/visitor-store.ts';
import type { SourceRules } from './resolve-plan.ts';

/** An envelope taken apart: what it says about its visitor, and what it says happened. */
export type IngestEvent = {
  readonly name: string;
  readonly timeMs: number;
  readonly properties: JsonObject;
  readonly context: JsonObject;
};

export function readEvent(envelope: Envelope, rules: SourceRules): IngestEvent {
  const { body } = envelope;
  const identify = envelope.kind === 'identify';
  return {
    name: identify ? '$identify' : String(body['event']),
    timeMs: typeof body['time'] === 'number' ? body['time'] : envelope.at,
    properties: identify ? objectOf(body['userProperties']) : eventProperties(body),
    context: readContext(envelope, rules),
  };
}

/** Who an event says its visitor is, and the properties it gives. */
export function readTouch({ account, id, body, ctx }: Envelope): VisitorTouch {
  const userProperties = cleanJson(objectOf(body['userProperties']));
  const externalId = cleanText(body['externalId']);
  const email = cleanEmail(body['email']);
  const userId = cleanText(body['userId']);
  const externalIds = distinct(externalId, cleanText(userProperties['external_id']));
  const emails = distinct(email, cleanEmail(userProperties['email']));
  const named = userId !== undefined || externalIds.length + emails.length > 0;
  const claim: VisitorClaim = {
    userId,
    externalIds,
    emails,
    anonymousId: named ? undefined : anonymousVisitorId(account, id),
  };
  return {
    accountId: account,
    claim,
    given: [
      identifying({ external_id: externalId, email }, userProperties),
      withoutClearing(userProperties, { external_id: externalId, email }),
      { custom_properties: cleanJson(objectOf(ctx?.custom_properties)) },
      { custom_properties: cleanJson(objectOf(body['custom_properties'])) },
    ],
  };
}

/** Properties that follow from the fields that identify, unless userProperties say it in their own spelling. */
function identifying(fields: IdentifyingFields, userProperties: JsonObject): JsonObject {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    const own = userProperties[name];
    if (value !== undefined && (typeof own !== 'string' || own === '')) given[name] = value;
  }
  return given;
}

/** A null for what the same event identifies by clears nothing: clients send null for whatever they left unset. */
function withoutClearing(userProperties: JsonObject, fields: IdentifyingFields): JsonObject {
  const contradicted = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && userProperties[name] === null,
  );
  if (contradicted.length === 0) return userProperties;
  const names = new Set(contradicted.map(([name]) => name));
  return Object.fromEntries(Object.entries(userProperties).filter(([name]) => !names.has(name)));
}

type IdentifyingFields = { readonly external_id: string | undefined; readonly email: string | undefined };

function eventProperties(body: JsonObject): JsonObject {
  const properties = objectOf(body['properties']);
  const own = body['eventProperties'];
  // The same thing under two names; on a clash of keys eventProperties wins.
  return isJsonObject(own) ? { ...properties, ...own } : properties;
}

/**
 * defaultProperties with the end user's network data: what the server that called said of it, else the client, else
 * the connection. What a batch says holds where the row does not say otherwise.
 */
function readContext({ body, ctx, ip, ua }: Envelope, rules: SourceRules): JsonObject {
  const connection = rules.excludeRequestContext ? {} : present({ ip, user_agent: ua });
  return {
    ...connection,
    ...ctx?.defaultProperties,
    ...objectOf(body['defaultProperties']),
    ...networkData(ctx?.identityContext),
    ...networkData(body['identityContext']),
  };
}

function networkData(identityContext: unknown): JsonObject {
  if (!isJsonObject(identityContext)) return {};
  return present({ ip: identityContext['ip'], user_agent: identityContext['userAgent'] });
}

function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== ''));
}

function distinct(...values: readonly (string | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
