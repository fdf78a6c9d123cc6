/** Who decided about a purpose, from the most specific to the least. */
export const consentLayers = ['event', 'visitor', 'signal', 'default', 'withdrawal'] as const;
export type ConsentLayer = (typeof consentLayers)[number];

export type PurposeAnswer = {
  readonly purpose: string;
  readonly isGranted: boolean;
  readonly layer: ConsentLayer;
  /** Of a signal its name, of a default the region it was judged for: `US-CA`, or `unknown`. */
  readonly detail?: string;
};
