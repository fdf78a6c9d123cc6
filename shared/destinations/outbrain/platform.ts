import { Type } from 'typebox';
import { definePixelPlatform } from '../sdk/pixel-platform.ts';
import { currencyCode, someText } from '../sdk/platform-schemas.ts';

/** Outbrain's pixel for server-to-server conversions. https://github.com/stape-io/outbrain-tag */
export const outbrainPlatform = definePixelPlatform({
  path: '/unifiedPixel',
  query: Type.Object({
    ob_click_id: someText,
    name: someText,
    orderId: Type.Optional(someText),
    orderValue: Type.Optional(Type.String({ pattern: String.raw`^\d+(\.\d+)?$` })),
    currency: Type.Optional(currencyCode),
  }),
});
