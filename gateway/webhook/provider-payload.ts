import { createHash } from 'node:crypto';
import { copyMember } from '../../shared/json/exact-numbers.ts';
import type { ProviderEvent } from '../../shared/sources/sdk/provider-event.ts';
import type { MadeEvent } from '../ingest/encode-made.ts';
import { isWithinWindow } from '../payload/time-window.ts';
import { textCharactersMax } from '../../shared/contracts/ingest/payload-fields.ts';
import type { TimeWindow } from '../payload/time-window.ts';
import type { TrackPayload } from '../payload/payloads.ts';

/** Fields in the query of a webhook's address, other than identifiers; they override fields of the body. */
export type AddressSays = {
  readonly event: string | undefined;
  readonly fields: Omit<TrackPayload, 'token' | 'event'>;
};

export type PayloadContext = {
  /** The name of the source, used for events without a name. */
  readonly sourceName: string;
  readonly says: AddressSays;
  readonly nowMs: number;
  readonly timeWindow: TimeWindow;
  /** The token of payloads that the gateway creates. */
  readonly token: string;
};

/**
 * A provider's event as our payload. Each field for event, time and visitor comes from the address, else from the body.
 * If the time is outside the window, the event gets its time of arrival, and the context keeps the original as
 * `original_time`. A value that is too long for its field stays only in the properties. `index` distinguishes the
 * events of one request.
 */
export function payloadOf(event: ProviderEvent, context: PayloadContext, index: number): MadeEvent {
  const { says, nowMs, timeWindow, token } = context;
  const { eventProperties: _unused, ...said } = says.fields;
  const isTimely = isWithinWindow(event.timeMs, nowMs, timeWindow);
  const originalTime = isTimely || event.timeMs === undefined ? undefined : isoTime(event.timeMs);
  const fields = {
    ...present('userId', fitting(event.userId, textCharactersMax.userId)),
    ...present('externalId', fitting(event.externalId, textCharactersMax.externalId)),
    ...present('email', event.email),
    ...present('distinctId', event.id === undefined ? undefined : shortId(event.id)),
    ...present('time', isTimely ? event.timeMs : undefined),
    ...said,
    ...(said.distinctId && index > 0 ? { distinctId: `${said.distinctId}:${index}` } : {}),
    token,
    defaultProperties: { ...event.context, ...present('original_time', originalTime), ...said.defaultProperties },
    ...identityContext(event),
    ...present('consent', event.consent),
    ...present('integrations', event.integrations),
  };
  const userProperties: NonNullable<TrackPayload['userProperties']> = { ...event.traits };
  if (event.custom !== undefined) copyMember(userProperties, 'custom_properties', event, 'custom');
  if (event.kind === 'identify' && says.event === undefined) {
    return { kind: 'identify', payload: { ...fields, userProperties } };
  }
  const name = says.event ?? (event.name ?? context.sourceName).slice(0, textCharactersMax.event);
  const visitor = Object.keys(userProperties).length === 0 ? {} : { userProperties };
  return { kind: 'track', payload: { ...fields, event: name, eventProperties: event.properties, ...visitor } };
}

function identityContext({ ip, userAgent }: ProviderEvent): Pick<TrackPayload, 'identityContext'> {
  const data = { ...present('ip', fitting(ip, 2_000)), ...present('userAgent', fitting(userAgent, 2_000)) };
  return Object.keys(data).length === 0 ? {} : { identityContext: data };
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

const fitting = (text: string | undefined, charactersMax: number): string | undefined =>
  text === undefined || text.length > charactersMax ? undefined : text;

const shortId = (id: string): string =>
  id.length <= textCharactersMax.distinctId ? id : createHash('sha256').update(id).digest('hex');

/** An ISO 8601 time; undefined if JavaScript's dates cannot represent it. */
const isoTime = (ms: number): string | undefined => (Math.abs(ms) > 8.64e15 ? undefined : new Date(ms).toISOString());
