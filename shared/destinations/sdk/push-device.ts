import { deviceOf } from './device.ts';
import { identifyEvent, textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** A device that can receive push notifications. */
export type PushDevice = {
  readonly token: string;
  readonly platform: 'ios' | 'android';
  readonly deviceId: string | undefined;
};

/** Names of the lifecycle events with which app libraries send the push token, as lower-case letters only. */
const ofApp: ReadonlySet<string> = new Set([
  'applicationinstalled',
  'applicationopened',
  'applicationupdated',
  'devicetokenregistered',
  'deviceregistered',
]);

/**
 * The device that an identify or app lifecycle event registers for push, if its context has a token.
 * Undefined for any other event, and if the device's operating system is unknown.
 */
export function pushDevice(event: SentEvent): PushDevice | undefined {
  const { context, name } = event;
  const token = textOf(context['device_token']);
  const { platform } = deviceOf(event);
  if (token === undefined || platform === undefined) return undefined;
  if (name !== identifyEvent && !ofApp.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''))) return undefined;
  return { token, platform, deviceId: textOf(context['device_id']) };
}
