/** The layers that decide about a purpose, from the most specific to the least. */
export const consentLayers = ['event', 'visitor', 'signal', 'default', 'withdrawal'] as const;
export type ConsentLayer = (typeof consentLayers)[number];

export type PurposeAnswer = {
  readonly purpose: string;
  readonly isGranted: boolean;
  readonly layer: ConsentLayer;
  /** A signal's name, or the region of a default: `US-CA`, or `unknown`. */
  readonly detail?: string;
};
