import { definePixelPlatform } from '../sdk/pixel-platform.ts';

/** The postback URL that Basis DSP shows for a conversion. Any path is accepted: nothing more of it is known. */
export const basisPostbackPlatform = definePixelPlatform({ path: '**' });
