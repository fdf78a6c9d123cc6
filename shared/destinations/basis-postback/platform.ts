import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The postback URL that Basis DSP shows for a conversion. Any path is accepted because its form is not published. */
export const basisPostbackPlatform = definePixelPlatform({ path: '**' });
