import { Type } from 'typebox';
import { definePixelPlatform } from '../sdk/pixel-platform.ts';
import { currencyCode, someText } from '../sdk/platform-schemas.ts';

/**
 * Everflow's postback, on the customer's own tracking domain.
 * https://helpdesk.everflow.io/customer/accessing-editing-s2s-postback-urls
 */
export const everflowPlatform = definePixelPlatform({
  path: '**',
  query: Type.Object({
    nid: Type.String({ pattern: String.raw`^\d+$` }),
    transaction_id: someText,
    amount: Type.Optional(Type.String({ pattern: String.raw`^\d+(\.\d+)?$` })),
    currency: Type.Optional(currencyCode),
    order_id: Type.Optional(someText),
  }),
});
