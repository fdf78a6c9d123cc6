import { defineDestination, onlyEvent } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import { deliveryHeaders } from '../sdk/http.ts';
import { address, matching, optionalText, readBaseUrl, requiredText, toggle } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { visitorHeaders } from '../sdk/visitor-headers.ts';
import { pairList } from '../sdk/setting-lists.ts';
import { adobeHit, adobeVariable, hitBody } from './payload.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const settings = {
  defaultCurrency: defaultCurrency(),
  baseUrl: address(
    requiredText(
      {
        label: 'Data collection server',
        placeholder: 'https://example.data.adobedc.net',
        sublabel: 'What your implementation has as trackingServerSecure, with https:// before it.',
        example: 'https://example.data.adobedc.net',
      },
      readBaseUrl,
    ),
  ),
  reportSuiteIds: requiredText(
    {
      label: 'Report suite IDs',
      placeholder: 'examplersid',
      sublabel: 'Several are separated by commas.',
      example: 'examplersid',
    },
    matching(/^[\w.-]{1,40}(,[\w.-]{1,40}){0,19}$/, 'must be ids of report suites, separated by commas'),
  ),
  organizationId: optionalText(
    {
      label: 'Organization ID',
      placeholder: '0123456789ABCDEF01234567@AdobeOrg',
      sublabel: 'Only where visitors are known by their Experience Cloud ID.',
    },
    matching(/^\w{1,64}@AdobeOrg$/, 'must end in @AdobeOrg'),
  ),
  variables: pairList({
    label: 'Variables',
    placeholder: 'plan = eVar5, plan = prop2, store = list1',
    sublabel:
      'Properties of events, each with the variable that gets it: eVar1 to eVar250, prop1 to prop75, list1 to list3, hier1 to hier5, campaign, channel, pageType, server or zip.',
    value: adobeVariable,
  }),
  events: pairList({
    label: 'Success events',
    placeholder: 'Signed Up = event12, Order Completed = event7',
    sublabel: 'Names of events, each with the success event that it counts, beside those that Adobe has for orders.',
    value: /^event([1-9]\d{0,2}|1000)$/,
  }),
  productVariables: pairList({
    label: 'Variables of products',
    placeholder: 'colour = eVar7, discount = event3',
    sublabel: 'Properties of products, each with its merchandising eVar, or the event that gets its number.',
    value: /^(eVar([1-9]\d?|1\d\d|2[0-4]\d|250)|event([1-9]\d{0,2}|1000))$/,
  }),
  withoutTimestamps: toggle({
    label: 'Without timestamps',
    sublabel:
      'For report suites that take none: an event that has one is silently lost there. Events then count when they arrive.',
  }),
};

/**
 * Adobe Analytics, Data Insertion API: a hit a request, `POST /b/ss/{report suites}/2/…` as a query string in the body,
 * https://developer.adobe.com/analytics-collection-apis/methods/data-insertion. Of the two public ways in for servers this
 * is the one for events as they come: the Bulk Data Insertion API takes a file a second and visitor group, whose rows must
 * stand in the order of their times, over all files. Response type 2 says in the header `Status` whether the hit is one.
 *
 * Page views are page views, everything else is a custom link of the event's name. Properties that the settings give a
 * variable, and those that go by the name of one (`eVar5`, `prop3`, `list1`, `events`, `campaign` …), are that variable; all others are
 * context data, which the processing rules of the report suite put where they belong. A visitor is known by what Adobe gave
 * the browser (`ecid`, `s_vi`, `s_fid`), else by ours as the visitor ID.
 */
export const adobeAnalytics = defineDestination({
  id: 'AdobeAnalytics',
  label: 'Adobe Analytics',
  settings,
  exampleSuccess: { status: 204, body: '' },
  facts: {
    sends: "Every event but the service's own, as a page view or a custom link",
    limits: { events: 1 },
    deduplicatesBy: 'purchaseID',
    errors: 'by the headers Status and Reason, under a status of 2xx',
    sources: [
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/request',
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/response-types',
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/variable-reference',
      'https://experienceleague.adobe.com/docs/analytics/implementation/vars/page-vars/timestamp.html',
      'https://experienceleague.adobe.com/docs/analytics/implementation/vars/page-vars/evar-merchandising.html',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: ['properties below others and traits as variables: a mapping sets eVar5 and the like from them'],
  },
  loadPlatform: async () => (await import('./platform.ts')).adobeAnalyticsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/b/ss/${given.reportSuiteIds}/2`;
  return {
    batchEventsMax: 1,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const outbound = onlyEvent(events);
      const event = sentEvent(outbound, given);
      return {
        method: 'POST',
        // The last part keeps caches away, which a POST does anyway; the path is as documented with it.
        url: `${url}/s${Math.floor(event.timeMs)}`,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...deliveryHeaders(events),
          ...visitorHeaders(event),
        },
        body: hitBody(adobeHit(outbound, event, given)),
      };
    },
    readAnswer({ headers }, events) {
      if (headers['status'] !== 'FAILURE') return undefined;
      const reason = failures.get(headers['reason'] ?? '') ?? 'the hit is none';
      return events.map(() => ({ kind: 'reject', reason }));
    },
  };
}

/** The reasons Adobe documents. */
const failures: ReadonlyMap<string, string> = new Map(
  ['NO account', 'NO pagename OR pageurl', 'NO visitorid OR ipaddress', 'Syntax error'].map((reason) => [
    reason,
    `the hit is none: ${reason}`,
  ]),
);
