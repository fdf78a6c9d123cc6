import { Type } from 'typebox';
import type { Static } from 'typebox';
import { descriptionField, nameField, nullable } from '../contracts/config/define-collection.ts';
import { queryRule } from './query-rule.ts';
import { patternCharsMax } from './url-pattern.ts';

export const experimentTypes = ['ab', 'multivariate', 'personalization'] as const;
export type ExperimentType = (typeof experimentTypes)[number];

/** A draft has not started and is in no version; the lifecycle sets the other states. */
export const experimentStatuses = ['Draft', 'Running', 'Paused', 'Completed'] as const;
export type ExperimentStatus = (typeof experimentStatuses)[number];

const instant = Type.String({ format: 'date-time' });
const idField = Type.String({ minLength: 1, maxLength: 64 });
const percentField = Type.Number({ minimum: 0, maximum: 100 });

export const experimentKeyPattern = '^[A-Za-z0-9_-]{1,100}$';

/** A stored experiment. */
export const experimentBody = Type.Object({
  name: nameField,
  /** The key by which clients request the experiment; immutable and unique in its account. */
  key: Type.String({ pattern: experimentKeyPattern }),
  description: descriptionField,
  type: Type.Enum([...experimentTypes]),
  status: Type.Enum([...experimentStatuses]),
  /** Percent of all visitors that take part. */
  trafficAllocation: percentField,
  /** Patterns of the pages on which the experiment may run; none means all pages. */
  urlPatterns: Type.Array(Type.String({ minLength: 1, maxLength: patternCharsMax }), { maxItems: 50 }),
  /** Conditions on the page's query, all of which must hold. */
  queryRules: Type.Array(queryRule, { maxItems: 20 }),
  /** The event that counts as a conversion. */
  primaryMetric: nullable(
    Type.Object({ event: Type.String({ minLength: 1, maxLength: 1_000 }) }, { additionalProperties: false }),
  ),
  /** The variant that every visitor gets after completion. */
  rolloutVariantId: nullable(idField),
  /** The winning variant, for reports only. It does not affect visitors. */
  winnerVariantId: nullable(idField),
  /** Start and completion times. */
  startedAt: nullable(instant),
  stoppedAt: nullable(instant),
});

export type ExperimentBody = Static<typeof experimentBody>;

export const experimentDefaults = {
  description: null,
  type: 'ab',
  status: 'Draft',
  trafficAllocation: 100,
  urlPatterns: [],
  queryRules: [],
  primaryMetric: null,
  rolloutVariantId: null,
  winnerVariantId: null,
  startedAt: null,
  stoppedAt: null,
} as const;

/** Fields of an experiment that never change. */
export const experimentFixed = ['key', 'type'] as const;
/** Fields of an experiment that only its lifecycle sets. */
export const experimentReadOnly = ['status', 'rolloutVariantId', 'winnerVariantId', 'startedAt', 'stoppedAt'] as const;

/** A stored variant of an experiment. */
export const experimentVariantBody = Type.Object({
  experimentId: idField,
  name: nameField,
  description: descriptionField,
  isControl: Type.Boolean(),
  /** Percent of the participating visitors; the control receives the rest, whatever its own value. */
  weight: nullable(percentField),
  /** Where the page redirects the visitor: an http or https address, or a path on the same host. */
  redirect: nullable(Type.String({ minLength: 1, maxLength: 2_048 })),
  /** The properties that the variant sets on a page, by name. */
  properties: Type.Record(Type.String(), Type.String({ maxLength: 4_000 })),
});

export type ExperimentVariantBody = Static<typeof experimentVariantBody>;

export type ExperimentVariant = ExperimentVariantBody & { readonly id: string };

export const experimentVariantDefaults = {
  description: null,
  isControl: false,
  weight: null,
  redirect: null,
  properties: {},
} as const;

/** Fields of a variant that never change. */
export const experimentVariantFixed = ['experimentId'] as const;

/** An account's stored settings for experiments. */
export const experimentSettingsBody = Type.Object({
  name: nullable(nameField),
  /** False disables every experiment of the account. */
  isEnabled: Type.Boolean(),
  /** The token with which a browser requests assignments; not a secret. */
  token: Type.String({ pattern: '^exp_[A-Za-z0-9]{16,64}$' }),
  /** Domains whose pages may send requests; null means all. Independent of a source's `whitelistDomains`. */
  whitelistDomains: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 1_000 })),
});

export type ExperimentSettingsBody = Static<typeof experimentSettingsBody>;

export const experimentSettingsDefaults = { name: null, isEnabled: true, whitelistDomains: null } as const;

/** Fields of the settings that the service sets. */
export const experimentSettingsReadOnly = ['token'] as const;

/** Values that the service generates for new settings. */
export function generateExperimentSettings(randomText: (length: number) => string): { readonly token: string } {
  return { token: `exp_${randomText(32)}` };
}
