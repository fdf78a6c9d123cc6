import { expect, test } from 'vitest';
import { findDestinationKind } from './registry.ts';

// Refusals of settings that are lists or pairs, and of settings that are valid alone but not together.
test.each([
  ['AdobeAnalytics', { variables: 'plan = eVar251' }, 'settings.variables must be pairs such as plan = eVar5'],
  ['AdobeAnalytics', { variables: 'plan' }, 'settings.variables must be pairs'],
  ['AdobeAnalytics', { events: 'Signed Up = purchase' }, 'settings.events must be pairs'],
  ['AdobeAnalytics', { productVariables: 'colour = prop1' }, 'settings.productVariables must be pairs'],
  ['Amplitude', { endpoint: '/bulk' }, 'settings.endpoint must be one of /2/httpapi, /batch'],
  ['Braze', { subscribeEvents: 'User Subscribed' }, 'settings.subscriptionGroups is required'],
  ['Braze', { subscriptionGroups: 'a b' }, 'settings.subscriptionGroups must be up to 50 group ids'],
  ['Google', { restatingEvents: 'order completed' }, 'settings.restatingEvents must not contain order completed'],
  ['Google', { restatingEvents: 'A', cancellingEvents: 'a' }, 'settings.cancellingEvents must not contain a'],
  [
    'GoogleDataManagerEventIngest',
    { accountType: 'FLOODLIGHT_CONFIG', cancellingEvents: 'A' },
    'settings.cancellingEvents is for Google Ads conversions only',
  ],
  ['Impact', { appId: 'abc' }, 'settings.appId must be a number'],
  ['LinkedInAdsCAPI', { otherConversions: 'Signed Up' }, 'settings.otherConversions must be pairs'],
  ['Mailchimp', { interests: 'wants_news = yes' }, 'settings.interests must be pairs'],
  ['Mailchimp', { mergeFields: 'plan = plan' }, 'settings.mergeFields must be pairs'],
  ['Mixpanel', { unionTraits: Array.from({ length: 101 }, (_, i) => `t${i}`).join() }, 'at most 100 entries'],
  ['Reddit', { eventTypes: 'Trial Started = TRIAL' }, 'settings.eventTypes must be pairs'],
])('settings: %s refuses %j', (id, given, problem) => {
  const kind = findDestinationKind(id);
  expect(() => kind?.prepare({ ...kind.exampleSettings, ...given })).toThrow(problem);
});
