import { Type } from 'typebox';
import { definePixelPlatform } from '../sdk/pixel-platform.ts';
import { inQuery } from '../sdk/platform.ts';
import { oneOf, someText } from '../sdk/platform-schemas.ts';

/** StackAdapt's universal pixel, for requests from servers. */
export const stackAdaptApiPlatform = definePixelPlatform({
  path: '/saq_pxl',
  credentials: inQuery('uid'),
  query: Type.Object({
    event_type: oneOf('page', 'track'),
    ip_fwd: someText,
    ua_fwd: Type.Optional(someText),
    args: Type.String({ pattern: '^\\{.*\\}$' }),
  }),
});
