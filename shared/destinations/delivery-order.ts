import type { JsonObject } from '../process/json.ts';
import type { SettingDescriptor } from './define.ts';
import { choiceSetting } from './settings.ts';

/**
 * What a destination keeps in order while events wait for another attempt. `visitor`: later events of a visitor wait
 * behind an earlier one that waits. `none`: they go on, and the one that failed arrives after them.
 */
export const deliveryOrders = ['visitor', 'none'] as const;
export type DeliveryOrder = (typeof deliveryOrders)[number];

const labels: Readonly<Record<DeliveryOrder, string>> = {
  visitor: 'Each visitor in order',
  none: 'No order when retrying',
};

/** The setting itself; every kind has it. */
export const orderSetting: SettingDescriptor = {
  type: 'Select',
  key: 'order',
  label: 'Order',
  options: deliveryOrders.map((value) => ({ label: labels[value], value })),
  sublabel:
    'While an event waits for another attempt, later events of its visitor wait behind it. Without order they go on.',
  required: null,
  defaultValue: 'visitor',
};

/** Throws SettingError naming `order`. */
export function readDeliveryOrder(settings: JsonObject): DeliveryOrder {
  return choiceSetting(settings, orderSetting.key, deliveryOrders, 'visitor');
}
