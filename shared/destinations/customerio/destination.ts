import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventUlid } from '../sdk/event-ids.ts';
import {
  groupIn,
  isAlias,
  isGroup,
  isIdentify,
  pageEvent,
  propertiesOf,
  screenEvent,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { pushDevice } from '../sdk/push-device.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import {
  batchSize,
  choice,
  matching,
  optionalText,
  region,
  requiredSecret,
  requiredText,
  optionalBaseUrl,
  toggle,
} from '../sdk/settings.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import { eraseAtCustomerio } from './erase.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://track.customer.io' },
  { value: 'EU', label: 'European Union', url: 'https://track-eu.customer.io' },
];
// Customer.io limits only bytes, to 500 kB per request and 32 kB per row.
const batch = { max: 500, fallback: 100 };
const bodyBytesMax = 500_000;

const settings = {
  siteId: requiredText({
    label: 'Site ID',
    sublabel: 'From Account settings, API credentials, Track API keys.',
    example: 'example-site',
  }),
  apiKey: requiredSecret({ label: 'API key', example: 'example-key' }),
  region: region(regions),
  objectTypeId: optionalText(
    {
      label: 'Object type of groups',
      placeholder: '1',
      sublabel:
        'The object type ID for group calls, which create objects and relate people to them. If empty, groups are skipped.',
      example: '1',
    },
    matching(/^\d{1,10}$/, 'must be a number'),
  ),
  batchSize: batchSize(batch),
  traitNames: traitNames(),
  datesAsSeconds: toggle({
    label: 'Dates as seconds',
    sublabel: 'Sends ISO 8601 dates as seconds since 1970, which Customer.io can compare.',
  }),
  pageNames: choice<'url' | 'name'>({
    label: 'Name of a page view',
    options: [
      { label: 'URL of the page', value: 'url' },
      { label: 'Name of the page', value: 'name' },
    ],
    sublabel:
      "The name that segments and campaigns use for page views. Customer.io's own snippet and Segment send the URL.",
    fallback: 'url',
  }),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * Customer.io, Track API version 2: `POST /api/v2/batch`,
 * https://docs.customer.io/integrations/api/track/#tag/track_v2. Events carry a ULID derived from the event's id and
 * time, by which Customer.io deduplicates. A visitor with neither an external id nor an e-mail address is identified
 * by an `anonymous_id`, which an $identify merges into the person.
 */
export const customerio = defineDestination({
  id: 'Customerio',
  label: 'Customer.io',
  settings,
  facts: {
    sends:
      'Every event; $identify sets attributes, page and screen views have their own types, groups are objects, apps add devices',
    limits: { events: 500, bytes: 500_000 },
    deduplicatesBy: 'id',
    errors: 'rows by index in a 207',
    sources: ['https://docs.customer.io/integrations/api/track/#tag/track_v2'],
    checked: '2026-11-22',
    version: { name: 'v2', ends: undefined },
    skips: { group: 'the destination has no object type for groups' },
    namesElsewhere: ['Actions Customerio', 'Customer.io Actions', 'Customer.io Data Pipelines'],
  },
  loadPlatform: async () => (await import('./platform.ts')).customerioPlatform,
  prepare,
  erase: eraseAtCustomerio,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl ?? given.region.url}/api/v2/batch`;
  const headers = {
    authorization: basicAuthorization(given.siteId, given.apiKey),
  };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => !isGroup(event) || given.objectTypeId !== undefined,
    buildRequest: (events) =>
      withinBytes(
        postJson({ url, headers, body: { batch: events.flatMap((event) => operations(event, given)) }, events }),
        bodyBytesMax,
      ),
    readAnswer: (answer, events) => readErrors(answer, events, given),
  };
}

type Given = SettingsOf<typeof settings>;

/** An event's entries in the batch request: the event itself and, for an identified person, the device it registers. */
function operations(event: OutboundEvent, given: Given): readonly JsonObject[] {
  const sent = sentEvent(event);
  const { id, name, timeMs } = sent;
  const ids = contactIds(event);
  const known = knownBy(ids);
  if (isIdentify(event)) {
    if (known === undefined) throw new UnfitEventError('Customer.io needs an external id or an e-mail address');
    const attributes = { ...attributesOf(event, given), email: ids.email, anonymous_id: ids.visitorId };
    const identify = { type: 'person', action: 'identify', identifiers: known, attributes };
    const device = deviceIn(sent);
    return device === undefined
      ? [identify]
      : [identify, { type: 'person', action: 'add_device', identifiers: known, device }];
  }
  const properties = propertiesOf(event);
  if (isAlias(event)) return [aliasOf(properties)];
  const identifiers = known ?? { anonymous_id: ids.visitorId };
  if (isGroup(event)) return [objectOf(properties, known, given.objectTypeId ?? '')];
  const view = sent.isRenamed ? undefined : views.get(name);
  const told = {
    type: 'person',
    action: view ?? 'event',
    identifiers,
    id: eventUlid(id, timeMs),
    name: view === undefined ? name : nameOfView(sent, view, given.pageNames),
    timestamp: Math.floor(timeMs / 1_000),
    attributes: given.datesAsSeconds ? withSeconds(properties) : properties,
  };
  const device = known === undefined ? undefined : deviceIn(sent);
  return device === undefined ? [told] : [{ type: 'person', action: 'add_device', identifiers, device }, told];
}

/** An alias: the earlier id becomes an anonymous id of the person, who then gets the events under that id. */
function aliasOf({ id, previous_id: previousId }: JsonObject): JsonObject {
  const [person, anonymous] = [textForm(id), textForm(previousId)];
  if (person === undefined || anonymous === undefined) throw new UnfitEventError('the alias does not have two ids');
  return { type: 'person', action: 'identify', identifiers: { id: person }, attributes: { anonymous_id: anonymous } };
}

/**
 * A group as an object, https://docs.customer.io/journeys/objects/, with a relationship to the person if the person is
 * known.
 */
function objectOf(properties: JsonObject, person: JsonObject | undefined, objectTypeId: string): JsonObject {
  const group = groupIn(properties, 'group');
  if (group === undefined) throw new UnfitEventError('the event has no group id');
  return {
    type: 'object',
    action: 'identify',
    identifiers: { object_type_id: objectTypeId, object_id: group.id },
    attributes: group.traits,
    ...(person === undefined ? {} : { cio_relationships: [{ identifiers: person }] }),
  };
}

/** Customer.io's actions for page and screen views, by event name; views under these actions can trigger campaigns. */
const views: ReadonlyMap<string, string> = new Map([
  [pageEvent, 'page'],
  [screenEvent, 'screen'],
]);

function nameOfView(event: SentEvent, view: string, pageNames: Given['pageNames']): string {
  const own = textOf(event.properties['name']);
  const url = browserContext(event).url;
  return (view === 'page' && pageNames === 'url' ? (url ?? own) : (own ?? url)) ?? event.name;
}

/** The device that the event registers for push. */
function deviceIn(event: SentEvent): JsonObject | undefined {
  const device = pushDevice(event);
  if (device === undefined) return undefined;
  return { token: device.token, platform: device.platform, last_used: Math.floor(event.timeMs / 1_000) };
}

/** The traits as attributes; `created_at`, the only attribute that Customer.io reserves, is sent in seconds. */
function attributesOf(event: OutboundEvent, given: Given): JsonObject {
  const traits = namedTraits(traitsOf(event), given.traitNames);
  const created = secondsIn(traits['created_at'] ?? traits['createdAt']);
  const attributes = given.datesAsSeconds ? withSeconds(traits) : traits;
  return created === undefined ? attributes : { ...attributes, created_at: created };
}

function withSeconds(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, secondsIn(value) ?? value]));
}

const isoDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** An ISO 8601 date as seconds since the epoch; undefined for any other value. */
function secondsIn(value: unknown): number | undefined {
  const ms = typeof value === 'string' && isoDate.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}

function knownBy({ externalId, email }: ContactIds): JsonObject | undefined {
  if (externalId !== undefined) return { id: externalId };
  return email === undefined ? undefined : { email };
}

/** Reads the outcomes from a 207, which lists the refused operations by index; all others were accepted. */
function readErrors(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  given: Given,
): readonly Outcome[] | undefined {
  const errors = answer.status === 207 ? jsonAnswer(answer)?.['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const places = events.flatMap((event, place) => operations(event, given).map(() => place));
  const refusals = errors
    .filter(isJsonObject)
    .map(({ batch_index, reason, field }) => [places[Number(batch_index)] ?? -1, rowRefusal(reason, field)] as const);
  return rowOutcomes(events.length, new Map(refusals));
}
