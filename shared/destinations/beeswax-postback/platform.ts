import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The generic postback URL of an event in Beeswax. Any path is accepted because its form is not published. */
export const beeswaxPostbackPlatform = definePixelPlatform({ path: '**' });
