import { deviceOf } from './device.ts';
import { identifyEvent, textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** A device that can receive push notifications. */
export type PushDevice = {
  readonly token: string;
  readonly platform: 'ios' | 'android';
  readonly deviceId: string | undefined;
};

/** Lifecycle events with which app libraries send the push token; without case and separators. */
const ofApp: ReadonlySet<string> = new Set([
  'applicationinstalled',
  'applicationopened',
  'applicationupdated',
  'devicetokenregistered',
  'deviceregistered',
]);

/**
 * The device that an event registers for push: an identify or app lifecycle event whose context has
 * a token. Undefined for any other event, and where the device's system is unknown.
 */
export function pushDevice(event: SentEvent): PushDevice | undefined {
  const { context, name } = event;
  const token = textOf(context['device_token']);
  const { platform } = deviceOf(event);
  if (token === undefined || platform === undefined) return undefined;
  if (name !== identifyEvent && !ofApp.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''))) return undefined;
  return { token, platform, deviceId: textOf(context['device_id']) };
}
