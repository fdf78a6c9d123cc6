import type { FieldProblem } from '../contracts/config/define-collection.ts';
import { problemsOf } from '../routing/values/plan-error.ts';
import { bucketsInAll, bucketsOfPercent } from './bucketing.ts';
import type {
  ExperimentBody,
  ExperimentSettingsBody,
  ExperimentVariant,
  ExperimentVariantBody,
} from './experiment-bodies.ts';
import { compileQueryRule } from './query-rule.ts';
import { compileUrlPattern } from './url-pattern.ts';

/** The problems of an experiment by rules that the schema cannot express. */
export function checkExperiment(experiment: ExperimentBody): FieldProblem[] {
  const { type, status, trafficAllocation, rolloutVariantId } = experiment;
  const problems = [
    ...checkPercent('trafficAllocation', trafficAllocation),
    ...experiment.urlPatterns.flatMap((pattern, index) =>
      problemsOf(() => compileUrlPattern(pattern, `urlPatterns[${String(index)}]`)),
    ),
    ...experiment.queryRules.flatMap((rule, index) =>
      problemsOf(() => compileQueryRule(rule, `queryRules[${String(index)}]`)),
    ),
  ];
  if (type === 'personalization' && trafficAllocation !== 100) {
    problems.push({ field: 'trafficAllocation', problem: 'must be 100 for a personalization, which is always on' });
  }
  if (rolloutVariantId !== null && status !== 'Completed') {
    problems.push({ field: 'rolloutVariantId', problem: 'is for a completed experiment' });
  }
  return problems;
}

const propertiesMax = 200;
const propertyNameCharsMax = 250;

/** The problems of a variant by rules that the schema cannot express. */
export function checkVariant({ weight, redirect, properties }: ExperimentVariantBody): FieldProblem[] {
  const problems = weight === null ? [] : checkPercent('weight', weight);
  if (redirect !== null && !isRedirect(redirect)) {
    problems.push({ field: 'redirect', problem: 'must be an http or https URL, or a path that starts with one /' });
  }
  const names = Object.keys(properties);
  if (names.length > propertiesMax) {
    problems.push({ field: 'properties', problem: `must have at most ${String(propertiesMax)} properties` });
  }
  if (names.some((name) => name === '' || name.length > propertyNameCharsMax)) {
    problems.push({ field: 'properties', problem: `names must have 1 to ${String(propertyNameCharsMax)} characters` });
  }
  return problems;
}

/** The problems of settings by rules that the schema cannot express. */
export function checkExperimentSettings({ whitelistDomains }: ExperimentSettingsBody): FieldProblem[] {
  const domain = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
  return (whitelistDomains ?? []).every((text) => domain.test(text))
    ? []
    : [{ field: 'whitelistDomains', problem: 'must hold domain names, such as example.com' }];
}

/** The problems of an experiment's variants as a whole; a draft may still lack variants. */
export function checkVariants(experiment: ExperimentBody, variants: readonly ExperimentVariant[]): FieldProblem[] {
  const problems: FieldProblem[] = experiment.status === 'Draft' ? [] : missingVariants(experiment, variants);
  if (variants.filter(({ isControl }) => isControl).length > 1) {
    problems.push({ field: 'isControl', problem: 'must be true for one variant of an experiment only' });
  }
  // The control's own weight counts too, since it is the control's minimum.
  const given = variants.reduce((sum, { weight }) => sum + bucketsOfPercent(weight ?? 0), 0);
  if (given > bucketsInAll) {
    problems.push({ field: 'weight', problem: `weights must sum to at most 100, not ${String(given / 100)}` });
  }
  const { rolloutVariantId } = experiment;
  if (rolloutVariantId !== null && !variants.some(({ id }) => id === rolloutVariantId)) {
    problems.push({ field: 'rolloutVariantId', problem: 'must be a variant of the experiment' });
  }
  return problems;
}

/** The problems for which an experiment cannot start with these variants; empty if it can. */
export function checkStart(experiment: ExperimentBody, variants: readonly ExperimentVariant[]): FieldProblem[] {
  return [...checkExperiment(experiment), ...checkVariants({ ...experiment, status: 'Running' }, variants)];
}

/**
 * The problems of changing a variant to `after`, or of deleting it if `after` is undefined. In a started experiment
 * visitors are assigned to the variant, and results are compared with those of the control in the same period.
 */
export function checkVariantChange(
  experiment: ExperimentBody,
  before: ExperimentVariantBody,
  after: ExperimentVariantBody | undefined,
): FieldProblem[] {
  if (experiment.status === 'Draft') return [];
  if (after === undefined) return [{ field: 'id', problem: 'a variant of a started experiment must not be removed' }];
  if (after.isControl === before.isControl) return [];
  return [{ field: 'isControl', problem: 'is fixed once the experiment has started' }];
}

function missingVariants({ type }: ExperimentBody, variants: readonly ExperimentVariant[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  // A personalization compares nothing, so a control alone is enough.
  const least = type === 'personalization' ? 1 : 2;
  if (variants.length < least) {
    problems.push({ field: 'variants', problem: `must be at least ${String(least)} to start` });
  }
  if (!variants.some(({ isControl }) => isControl)) {
    problems.push({ field: 'isControl', problem: 'must be true for exactly one variant' });
  }
  return problems;
}

function checkPercent(field: string, percent: number): FieldProblem[] {
  return bucketsOfPercent(percent) / 100 === percent
    ? []
    : [{ field, problem: 'must be a percentage of at most two decimals' }];
}

function isRedirect(text: string): boolean {
  if (/[\s\\]/.test(text)) return false;
  if (text.startsWith('/')) return !text.startsWith('//');
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
