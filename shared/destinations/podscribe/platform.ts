import { Type } from 'typebox';
import { definePixelPlatform } from '../sdk/pixel-platform.ts';
import { inQuery } from '../sdk/platform.ts';
import { instant, sha256Hex, someText } from '../sdk/platform-schemas.ts';

/** Podscribe's tag, whose only credential is the advertiser's key in the query. */
export const podscribePlatform = definePixelPlatform({
  path: '/tag',
  credentials: inQuery('advertiser'),
  query: Type.Object({
    action: Type.String({ pattern: '^[a-z0-9_]+$' }),
    timestamp: instant,
    ip: someText,
    hashed_email: Type.Optional(sha256Hex),
  }),
});
