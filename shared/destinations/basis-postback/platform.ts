import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The postback that Basis DSP shows for a conversion: its address is all that is known of it. */
export const basisPostbackPlatform = definePixelPlatform({ path: '**' });
