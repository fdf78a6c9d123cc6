import { createHash } from 'node:crypto';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, isIdentify, propertiesOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { matching, optionalBaseUrl, optionalSecret, optionalText, region, requiredText } from '../sdk/settings.ts';
import type { Regions, SettingsOf } from '../sdk/settings.ts';
import { visitorHeaders } from '../sdk/visitor-headers.ts';

const regions: Regions = [
  { value: 'US', label: 'United States', url: 'https://dev.visualwebsiteoptimizer.com' },
  { value: 'EU', label: 'European Union', url: 'https://dev.visualwebsiteoptimizer.com/eu01' },
  { value: 'AS', label: 'Asia', url: 'https://dev.visualwebsiteoptimizer.com/as01' },
];
const uuidNames = ['vwo_uuid', '_vwo_uuid'];
const syncEvent = 'vwo_syncVisitorProp';
const propertiesMax = 100;
const valueCharactersMax = 1_000;

const settings = {
  accountId: requiredText(
    { label: 'Account ID', placeholder: '123456', sublabel: 'The number of your VWO account.', example: '123456' },
    matching(/^\d{1,12}$/, 'must be a number'),
  ),
  sdkKey: optionalSecret({
    label: 'SDK key',
    sublabel:
      'From the environment, if events belong to feature experiments. vwo_uuid may then be the user ID of the SDK.',
    example: 'example-sdk-key',
  }),
  eventPrefix: optionalText(
    {
      label: 'Prefix of event names',
      placeholder: 'segment.',
      sublabel: 'Metrics that were created for Segment events use names that start with segment.',
    },
    matching(/^[\w.-]{1,40}$/, 'must contain only letters, digits, dots, _ and -'),
  ),
  region: region(regions),
  baseUrl: optionalBaseUrl(regions[0].url),
};

/**
 * VWO: an event with `POST /events/t?en={name}&a={account}`, an $identify as the event `vwo_syncVisitorProp`; one per
 * request, with the visitor's IP address and browser, as VWO's own integration in
 * https://github.com/segmentio/action-destinations (destinations/vwo) sends them. An event's name must be registered
 * in VWO. A visitor is identified by the id that VWO set in the browser (`vwo_uuid`, the cookie `_vwo_uuid`), without
 * which an event is refused; with an SDK key also by the SDK's user id. VWO deduplicates by `msgId`, which consists of visitor and millisecond, as in
 * https://github.com/wingify/vwo-fme-node-sdk (NetworkUtil, UuidUtil).
 */
export const vwo = defineDestination({
  id: 'VWO',
  label: 'VWO',
  settings,
  facts: {
    sends: 'Every event of a visitor known to VWO; $identify as properties',
    limits: { events: 1 },
    deduplicatesBy: 'msgId',
    errors: 'status',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/vwo',
      'https://github.com/wingify/vwo-fme-node-sdk',
    ],
    checked: '2026-11-29',
    version: 'unversioned',
    skips: { group: 'VWO has no groups', alias: 'VWO identifies a visitor by the id of its own script' },
    namesElsewhere: ['VWO Cloud Mode (Actions)'],
  },
  loadPlatform: async () => (await import('./platform.ts')).vwoPlatform,
  exampleProperties: { vwo_uuid: 'D0E1A2M3P4L5E6000000000000000001' },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const base = given.baseUrl ?? given.region.url;
  return {
    batchEventsMax: 1,
    accepts: (event) => isIdentify(event) || acceptsCustomerEvents(event),
    buildRequest(events) {
      const outbound = onlyEvent(events);
      const event = sentEvent(outbound);
      const id = browserId(event, uuidNames);
      if (id === undefined) throw new UnfitEventError('the event has no VWO visitor id (vwo_uuid)');
      const sdkKey = given.sdkKey?.trim();
      const visitor = sdkKey === undefined ? id : sdkVisitor(id, given.accountId);
      const name = isIdentify(outbound) ? syncEvent : `${given.eventPrefix ?? ''}${event.name}`;
      const url = `${base}/events/t?en=${encodeURIComponent(name.toWellFormed())}&a=${given.accountId}`;
      const body = { d: message(outbound, { name, visitor, sdkKey }) };
      return postJson({ url, headers: visitorHeaders(event), body, events });
    },
  };
}

// The name-based UUID of https://vwo.com, without dashes.
const vwoNamespace = '11e13cd76c4853ec86797e9c752273c5';

// As VWO sets it in the browser, or as an SDK records it: a UUID of version 5.
const ownId = /^(?:[DJ][\dA-Fa-f]{32}|[\dA-F]{12}5[\dA-F]{3}[89AB][\dA-F]{15})$/;

/** The id under which VWO's SDKs record a user, unless the given id is one of VWO already. */
function sdkVisitor(userId: string, accountId: string): string {
  if (ownId.test(userId)) return userId;
  return nameUuid(userId, nameUuid(accountId, vwoNamespace)).toUpperCase();
}

/** A UUID of version 5 (RFC 9562), without dashes, as its namespace. */
function nameUuid(name: string, namespace: string): string {
  const uuid = createHash('sha1').update(namespace, 'hex').update(name).digest().subarray(0, 16);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x50, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid.toString('hex');
}

type Parts = { readonly name: string; readonly visitor: string; readonly sdkKey: string | undefined };

function message(outbound: OutboundEvent, { name, visitor, sdkKey }: Parts): JsonObject {
  const event = sentEvent(outbound);
  const { url, referrer } = browserContext(event);
  const sessionId = Math.floor(event.timeMs / 1_000);
  const about = {
    ...(sdkKey === undefined ? {} : { vwo_fs_environment: sdkKey }),
    ...(isIdentify(outbound) ? plainValues(traitsOf(outbound)) : {}),
  };
  const known = Object.keys(about).length === 0 ? undefined : { props: about };
  return {
    msgId: `${visitor}-${event.timeMs}`,
    visId: visitor,
    sessionId,
    event: {
      name,
      time: event.timeMs,
      props: {
        ...(isIdentify(outbound) ? {} : plainValues(propertiesOf(outbound))),
        page: { ...present({ url, referrerUrl: referrer, title: textOf(event.context['title']) }) },
        isCustomEvent: true,
        vwoMeta: { source: 'sluice', metric: {} },
        ...(known === undefined ? {} : { $visitor: known }),
      },
    },
    ...(known === undefined ? {} : { visitor: known }),
  };
}

/** The members that are texts, numbers or booleans, since VWO accepts no other values. */
function plainValues(members: JsonObject): JsonObject {
  const entries = Object.entries(members)
    .filter(([name, value]) => !uuidNames.includes(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, valueCharactersMax) : value] as const);
  return Object.fromEntries(entries.slice(0, propertiesMax));
}
