import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The generic postback of an event in Beeswax: its address is all that is known of it. */
export const beeswaxPostbackPlatform = definePixelPlatform({ path: '**' });
