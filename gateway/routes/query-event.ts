import { clickIdNames } from '../../shared/contracts/events/click-ids.ts';
import { isPlaceholder } from '../../shared/contracts/events/placeholder-identifier.ts';
import { payloadFieldRows } from '../../shared/contracts/ingest/payload-fields.ts';
import type { TrackPayload } from '../payload/payloads.ts';

/** Parameters that describe where the event happened; they belong to its context. */
const contextNames = new RegExp(
  `^(?:utm_[a-z_]{1,32}|${[...clickIdNames].join('|')}|current_url|host|pathname|title|referrer|sid)$`,
);
/** Parameters of consent strings, as the IAB defines them for advertisements, with their names in a context. */
const consentNames: ReadonlyMap<string, string> = new Map([
  ['gdpr', 'gdpr_applies'],
  ['gdpr_consent', 'tcf'],
  ['gpp', 'gpp'],
  ['gpp_sid', 'gpp_sid'],
  ['us_privacy', 'us_privacy'],
]);
/** Limit of a consent string. One that lists all vendors takes a fifth of it. */
const consentCharactersMax = 8_192;
const valueCharactersMax = 2000;
const parametersMax = 100;

/** Token in payloads that the gateway builds itself: their check requires a token. It is never written to the log. */
export const madeToken = '*';

export type QueryEvent = {
  readonly event: string | undefined;
  /** Fields of a track payload that are in the query. */
  readonly fields: Omit<TrackPayload, 'token' | 'event'>;
  /** Whether the query has an identifier that is not a placeholder. */
  readonly identified: boolean;
};

/** Reads an event from a query: payload fields, context, and all other parameters as properties. */
export function readQueryEvent(query: string): QueryEvent {
  const eventProperties: Record<string, string> = Object.create(null) as Record<string, string>;
  const defaultProperties: Record<string, string> = Object.create(null) as Record<string, string>;
  const own: Record<string, string> = Object.create(null) as Record<string, string>;
  let parameters = 0;
  // No store accepts a null character.
  for (const [name, value] of new URLSearchParams(query.replaceAll('%00', '%EF%BF%BD'))) {
    parameters += 1;
    if (parameters > parametersMax) break;
    if (value === '' || name === '' || name === '__proto__') continue;
    const consentName = consentNames.get(name);
    if (ownNames.has(name)) own[name] = value;
    else if (consentName !== undefined) defaultProperties[consentName] = value.slice(0, consentCharactersMax);
    else if (contextNames.test(name)) defaultProperties[name] = value.slice(0, valueCharactersMax);
    else eventProperties[name] = value.slice(0, valueCharactersMax);
  }
  const { time, event, ...texts } = own;
  const { userId, externalId, email } = texts;
  return {
    event,
    identified: [userId, externalId, email].some((text) => text !== undefined && !isPlaceholder(text)),
    fields: {
      eventProperties: { ...eventProperties },
      defaultProperties: { ...defaultProperties },
      ...texts,
      ...(time === undefined ? {} : { time: Number(time) }),
    },
  };
}

/** Fields of a track that a query may have: texts and the time. */
const ownNames: ReadonlySet<string> = new Set(
  payloadFieldRows
    .filter(({ name, rule, track }) => name !== 'token' && track !== undefined && (rule === 'text' || rule === 'time'))
    .map(({ name }) => name),
);
