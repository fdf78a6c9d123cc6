import { deviceOf } from './device.ts';
import { identifyEvent, textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** A device that an app can send notifications to. */
export type PushDevice = {
  readonly token: string;
  readonly platform: 'ios' | 'android';
  readonly deviceId: string | undefined;
};

/** Events of the life of an app, with which libraries send the token; without case and separators. */
const ofApp: ReadonlySet<string> = new Set([
  'applicationinstalled',
  'applicationopened',
  'applicationupdated',
  'devicetokenregistered',
  'deviceregistered',
]);

/**
 * The device that an event registers for notifications: an $identify, or an event of the life of an app, whose context has a
 * token. Undefined for any other event, and where the system of the device is not known.
 */
export function pushDevice(event: SentEvent): PushDevice | undefined {
  const { context, name } = event;
  const token = textOf(context['device_token']);
  const { platform } = deviceOf(event);
  if (token === undefined || platform === undefined) return undefined;
  if (name !== identifyEvent && !ofApp.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''))) return undefined;
  return { token, platform, deviceId: textOf(context['device_id']) };
}
