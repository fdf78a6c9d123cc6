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
        sublabel: 'The trackingServerSecure of your implementation, with https:// in front.',
        example: 'https://example.data.adobedc.net',
      },
      readBaseUrl,
    ),
  ),
  reportSuiteIds: requiredText(
    {
      label: 'Report suite IDs',
      placeholder: 'examplersid',
      sublabel: 'Separate several with commas.',
      example: 'examplersid',
    },
    matching(/^[\w.-]{1,40}(,[\w.-]{1,40}){0,19}$/, 'must be report suite IDs, separated by commas'),
  ),
  organizationId: optionalText(
    {
      label: 'Organization ID',
      placeholder: '0123456789ABCDEF01234567@AdobeOrg',
      sublabel: 'Only needed if visitors are identified by Experience Cloud ID.',
    },
    matching(/^\w{1,64}@AdobeOrg$/, 'must end in @AdobeOrg'),
  ),
  variables: pairList({
    label: 'Variables',
    placeholder: 'plan = eVar5, plan = prop2, store = list1',
    sublabel:
      'Event properties, each with the variable to fill: eVar1 to eVar250, prop1 to prop75, list1 to list3, hier1 to hier5, campaign, channel, pageType, server or zip.',
    value: adobeVariable,
  }),
  events: pairList({
    label: 'Success events',
    placeholder: 'Signed Up = event12, Order Completed = event7',
    sublabel: "Event names, each with the success event that it counts. Orders already count in Adobe's own events.",
    value: /^event([1-9]\d{0,2}|1000)$/,
  }),
  productVariables: pairList({
    label: 'Variables of products',
    placeholder: 'colour = eVar7, discount = event3',
    sublabel: 'Product properties, each with its merchandising eVar, or the event that receives its number.',
    value: /^(eVar([1-9]\d?|1\d\d|2[0-4]\d|250)|event([1-9]\d{0,2}|1000))$/,
  }),
  withoutTimestamps: toggle({
    label: 'Without timestamps',
    sublabel:
      'For report suites without timestamp support: they silently drop hits that have a timestamp. Events are then counted at the time of arrival.',
  }),
};

/**
 * Adobe Analytics, Data Insertion API: one hit per request, `POST /b/ss/{report suites}/2/…` with a query string in the
 * body, https://developer.adobe.com/analytics-collection-apis/methods/data-insertion. Adobe's other public server API,
 * Bulk Data Insertion, does not suit a stream of events because it accepts one file per second and visitor group, with
 * rows in time order across all files. The 2 in the path selects responses whose header `Status` tells whether the hit
 * was accepted.
 *
 * Page views are sent as page views, everything else as a custom link with the event's name. Properties that the
 * settings assign to a variable, and those named like one (`eVar5`, `prop3`, `list1`, `events`, `campaign` …), fill
 * that variable; all others are context data, which the report suite's processing rules assign. A visitor is
 * identified by Adobe's own browser ids (`ecid`, `s_vi`, `s_fid`), else by the Sluice visitor id as the visitor ID.
 */
export const adobeAnalytics = defineDestination({
  id: 'AdobeAnalytics',
  label: 'Adobe Analytics',
  settings,
  exampleSuccess: { status: 204, body: '' },
  facts: {
    sends: 'Every customer event, as a page view or a custom link',
    limits: { events: 1 },
    deduplicatesBy: 'purchaseID',
    errors: 'by the headers Status and Reason of a 2xx response',
    sources: [
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/request',
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/response-types',
      'https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/variable-reference',
      'https://experienceleague.adobe.com/docs/analytics/implementation/vars/page-vars/timestamp.html',
      'https://experienceleague.adobe.com/docs/analytics/implementation/vars/page-vars/evar-merchandising.html',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: ['nested properties, and traits as variables: use a mapping to eVar5 and the like'],
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
        // The last path segment defeats caches, which a POST does not need; the documented path has it nevertheless.
        url: `${url}/s${event.timeMs}`,
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
      const reason = failures.get(headers['reason'] ?? '') ?? 'Adobe refused the hit';
      return events.map(() => ({ kind: 'reject', reason }));
    },
  };
}

/** The reasons for a refusal that Adobe documents, each with the text to record. */
const failures: ReadonlyMap<string, string> = new Map(
  ['NO account', 'NO pagename OR pageurl', 'NO visitorid OR ipaddress', 'Syntax error'].map((reason) => [
    reason,
    `Adobe refused the hit: ${reason}`,
  ]),
);
