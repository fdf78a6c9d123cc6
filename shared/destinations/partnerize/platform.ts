import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/**
 * Conversions of Partnerize: the path contains the whole conversion.
 * https://github.com/webmasterjunkie/partnerize-gtm-s2s
 */
export const partnerizePlatform = definePixelPlatform({
  path: '/conversion/tracking_mode:api/campaign:{campaign}/clickref:{clickref}/conversionref:{order}/**',
});
