import type { JsonObject } from '../process/json.ts';
import type { DestinationKind, PreparedDestination } from './define.ts';
import { orderSetting, readDeliveryOrder } from './delivery-order.ts';
import type { DeliveryOrder } from './delivery-order.ts';

/** A destination made ready, with what the settings that every kind has say. */
export type OfferedDestination = PreparedDestination & { readonly order: DeliveryOrder };

/** A kind with the settings that every kind has. */
export type OfferedKind = Omit<DestinationKind, 'prepare'> & { prepare(settings: JsonObject): OfferedDestination };

/** Adds to a kind the settings that every kind has, behind its own. */
export function withCommonSettings(kind: DestinationKind): OfferedKind {
  const { descriptor } = kind;
  return {
    ...kind,
    descriptor: { ...descriptor, settings: [...descriptor.settings, orderSetting] },
    prepare: (settings) => ({ ...kind.prepare(settings), order: readDeliveryOrder(settings) }),
  };
}
