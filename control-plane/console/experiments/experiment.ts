export type ExperimentStatus = 'Draft' | 'Running' | 'Paused' | 'Completed';
export type ExperimentType = 'ab' | 'multivariate' | 'personalization';

export type QueryRule = {
  readonly parameter: string;
  readonly operator: 'equals' | 'contains' | 'exists' | 'not_exists' | 'not_equals' | 'regex';
  readonly value?: string | null;
};

export type Experiment = {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly description: string | null;
  readonly type: ExperimentType;
  readonly status: ExperimentStatus;
  /** Percentage of visitors who take part. */
  readonly trafficAllocation: number;
  readonly urlPatterns: readonly string[];
  readonly queryRules: readonly QueryRule[];
  readonly primaryMetric: { readonly event: string } | null;
  readonly rolloutVariantId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

/** The reply to starting, pausing, resuming or ending an experiment. */
export type StepTaken = Experiment & { readonly takesEffect: 'now' | 'nextVersion' };

export type Variant = {
  readonly id: string;
  readonly experimentId: string;
  readonly name: string;
  readonly description: string | null;
  readonly isControl: boolean;
  /** Percentage of the participating visitors. Null for the control, which gets the remainder. */
  readonly weight: number | null;
  readonly redirect: string | null;
  readonly properties: Readonly<Record<string, string>>;
};

/** Weights of variants, by the variant's id. */
export type Weights = ReadonlyMap<string, number>;

/** The edited weights that the stored variants do not have yet. One that was edited again since it was saved stays. */
export function stillEdited(edited: Weights, saved: Weights, stored: Weights): Weights {
  return new Map(
    [...edited].filter(([id, weight]) => stored.get(id) !== weight || (saved.get(id) ?? weight) !== weight),
  );
}

export type Interval = { readonly low: number; readonly high: number };

export type VariantResults = {
  readonly id: string;
  readonly name: string;
  readonly isControl: boolean;
  /** Percentage of visitors that the variant should have according to the weights. */
  readonly expectedShare: number;
  readonly visitors: number;
  readonly conversions: number;
  readonly conversionRate: number | null;
  readonly confidenceInterval: Interval | null;
};

export type Results = {
  readonly status: ExperimentStatus;
  readonly primaryMetric: { readonly event: string } | null;
  readonly confidencePercent: number;
  readonly visitors: number;
  readonly conversions: number;
  readonly variants: readonly VariantResults[];
  readonly sampleRatio: {
    readonly chiSquare: number;
    readonly pValue: number;
    readonly isMismatch: boolean;
  } | null;
};

export type ExperimentSettings = {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly token: string;
  readonly whitelistDomains: readonly string[] | null;
};

export const typeWords: Readonly<Record<ExperimentType, string>> = {
  ab: 'A/B test',
  multivariate: 'Multivariate test',
  personalization: 'Personalization',
};

/** Percentage left for the control; negative while the weights exceed 100. */
export function shareOfControl(variants: readonly Pick<Variant, 'isControl' | 'weight'>[]): number {
  const given = variants.reduce((sum, { isControl, weight }) => sum + (isControl ? 0 : (weight ?? 0)), 0);
  // Rounded to hundredths, in which the server counts, to remove the error of adding fractions.
  return Math.round((100 - given) * 100) / 100;
}

/**
 * Compares a variant's rate with the control's rate. The rates count as different only if their confidence intervals do
 * not overlap.
 */
export function compareWithControl(
  variant: Pick<VariantResults, 'isControl' | 'confidenceInterval'>,
  all: readonly Pick<VariantResults, 'isControl' | 'confidenceInterval'>[],
): 'above' | 'below' | 'undecided' {
  const control = all.find(({ isControl }) => isControl)?.confidenceInterval;
  const own = variant.confidenceInterval;
  if (variant.isControl || own === null || control === null || control === undefined) return 'undecided';
  if (own.low > control.high) return 'above';
  return own.high < control.low ? 'below' : 'undecided';
}
