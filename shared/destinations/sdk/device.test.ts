import { expect, test } from 'vitest';
import { deviceOf, extendedDeviceInfo, isOfApp } from './device.ts';
import { sentEvent } from './event.ts';
import { sampleEvent } from './sample-event.ts';

const of = (context: Readonly<Record<string, unknown>>, properties = {}) =>
  sentEvent({ resolved: sampleEvent({ context, event_properties: properties }) });

test.each([
  [{ device_advertising_id: 'A', device_type: 'ios', device_id: 'V' }, 'ios', 'A', 'V'],
  [{ device_advertising_id: 'A', os_name: 'iPadOS' }, 'ios', 'A', undefined],
  [{ device_advertising_id: 'A', device_type: 'Android', device_id: 'D' }, 'android', 'A', undefined],
  [{ idfa: 'A' }, 'ios', 'A', undefined],
  [{ gaid: 'A' }, 'android', 'A', undefined],
  [{ device_advertising_id: '00000000-0000-0000-0000-000000000000', device_type: 'ios' }, 'ios', undefined, undefined],
  [{ device_advertising_id: 'A', device_type: 'ios', device_ad_tracking_enabled: false }, 'ios', undefined, undefined],
  [{ device_type: 'desktop', os_name: 'Windows' }, undefined, undefined, undefined],
] as const)('device: %j', (context, platform, advertisingId, vendorId) => {
  expect(deviceOf(of(context))).toMatchObject({ platform, advertisingId, vendorId });
});

test.each([
  ['true', true],
  [1, true],
  ['0', false],
  ['FALSE', false],
  [{ toString: 0 }, undefined],
  [null, undefined],
])('device: a tracking setting of %j means %j', (setting, allowsTracking) => {
  expect(deviceOf(of({ device_ad_tracking_enabled: setting }))).toMatchObject({ allowsTracking });
});

test('app: an event is an app event by its channel, or by its app and device if it has no page', () => {
  expect(isOfApp(of({ channel: 'mobile' }))).toBe(true);
  expect(isOfApp(of({ app_namespace: 'com.example', os_name: 'iOS' }))).toBe(true);
  expect(isOfApp(of({ app_name: 'Shop', os_name: 'iOS', current_url: 'https://a.test' }))).toBe(false);
  expect(isOfApp(of({ os_name: 'iOS' }))).toBe(false);
});

test('device info: sixteen texts, each empty if its value is unknown', () => {
  expect(extendedDeviceInfo(of({}))).toEqual(['a2', ...Array.from({ length: 15 }, () => '')]);
  expect(extendedDeviceInfo(of({ os_name: 'iOS', screen_width: 390, locale: 'de-DE' }))).toMatchObject({
    0: 'i2',
    6: 'de_DE',
    9: '390',
  });
});
