import { textForm } from '../../routing/values/value-forms.ts';
import { numberOf, textOf } from './event.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

/** The device of an app event. */
export type Device = {
  /** Undefined if the event does not name the platform, or names another platform. */
  readonly platform: 'ios' | 'android' | undefined;
  /** The advertising id: Apple's IDFA or Google's AAID. Undefined if the person disabled it. */
  readonly advertisingId: string | undefined;
  /** Apple's vendor id (IDFV). */
  readonly vendorId: string | undefined;
  /** Whether the person permits tracking by apps; undefined if the event does not contain the permission. */
  readonly allowsTracking: boolean | undefined;
};

/** Reads the device from the properties and context, under the names that sources use for its ids. */
export function deviceOf({ properties, context }: SentEvent): Device {
  const text = (...names: readonly string[]): string | undefined => {
    for (const name of names) {
      const found = textOf(properties[name]) ?? textOf(context[name]);
      if (found !== undefined && !/^[0-]+$/.test(found)) return found;
    }
    return undefined;
  };
  const idfa = text('idfa');
  const aaid = text('gaid', 'aaid');
  const named = `${text('device_type') ?? ''} ${text('os_name') ?? ''}`.toLowerCase();
  const isApple = idfa !== undefined || /\bios\b|ipados|iphone|ipad|tvos|watchos|visionos/.test(named);
  const isAndroid = !isApple && (aaid !== undefined || named.includes('android'));
  const allowsTracking = trackingIn(context);
  const id = idfa ?? aaid ?? text('device_advertising_id', 'advertising_id');
  return {
    platform: isApple ? 'ios' : isAndroid ? 'android' : undefined,
    advertisingId: allowsTracking === false ? undefined : id,
    vendorId: isApple ? text('idfv', 'device_id') : undefined,
    allowsTracking,
  };
}

/**
 * The tracking permission: Apple's App Tracking Transparency status if the library sends it (3 is
 * authorized), else the operating system's setting.
 */
function trackingIn(context: JsonObject): boolean | undefined {
  const status = numberOf(context['device_att_tracking_status']);
  if (status === 3) return true;
  if (status === 1 || status === 2) return false;
  const setting = context['device_ad_tracking_enabled'];
  const text = textForm(setting)?.toLowerCase() ?? '';
  return ['true', '1'].includes(text) ? true : ['false', '0'].includes(text) ? false : undefined;
}

/**
 * Whether an event happened in an app: its context contains `channel: mobile`, or contains an app on
 * iOS or Android and no page.
 */
export function isOfApp(event: SentEvent): boolean {
  const { context } = event;
  if (textOf(context['channel']) === 'mobile') return true;
  const hasApp = textOf(context['app_namespace']) !== undefined || textOf(context['app_name']) !== undefined;
  return hasApp && deviceOf(event).platform !== undefined && textOf(context['current_url']) === undefined;
}

/**
 * The device array (`extinfo`) that Meta and Snap require for app events: sixteen texts, empty
 * where unknown. https://developers.facebook.com/docs/marketing-api/conversions-api/app-events
 */
export function extendedDeviceInfo(event: SentEvent): readonly string[] {
  const { context } = event;
  const text = (name: string): string => {
    const value = context[name];
    return textOf(value) ?? numberOf(value)?.toString() ?? '';
  };
  const version = text('app_version');
  return [
    deviceOf(event).platform === 'ios' ? 'i2' : 'a2',
    text('app_namespace'),
    text('app_build') || version,
    version,
    text('os_version'),
    text('device_model'),
    text('locale').replace('-', '_'),
    '',
    text('network_carrier'),
    text('screen_width'),
    text('screen_height'),
    text('screen_density'),
    '',
    '',
    '',
    text('timezone'),
  ];
}
