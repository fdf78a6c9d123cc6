import { Type } from 'typebox';
import { definePixelPlatform } from '../sdk/pixel-platform.ts';
import { currencyCode, oneOf, someText } from '../sdk/platform-schemas.ts';

const count = Type.String({ pattern: '^[1-9][0-9]*$' });

/**
 * Postbacks to Admitad, which responds 200 to every request that it can read. Other statuses come from proxies.
 * https://support.mitgo.com/knowledge-base/article/integration-via-postback-request_2
 */
export const admitadPlatform = definePixelPlatform({
  path: '/tt',
  query: Type.Object({
    postback: Type.Literal('1'),
    campaign_code: someText,
    postback_key: someText,
    action_code: someText,
    tariff_code: someText,
    payment_type: oneOf('sale', 'lead'),
    uid: someText,
    order_id: someText,
    position_id: count,
    position_count: count,
    quantity: count,
    price: Type.Optional(Type.String({ pattern: String.raw`^\d+(\.\d+)?$` })),
    currency_code: Type.Optional(currencyCode),
  }),
});
