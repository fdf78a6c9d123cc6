import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The generic postback URL of an event in Beeswax. Any path is accepted: nothing more of it is known. */
export const beeswaxPostbackPlatform = definePixelPlatform({ path: '**' });
