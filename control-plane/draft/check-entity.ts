import type { Static } from 'typebox';
import type { AnyCollection, CollectionName, Registered } from '../../shared/collections/registry.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import {
  checkExperiment,
  checkExperimentSettings,
  checkVariant,
} from '../../shared/experiments/validate-experiment.ts';
import { checkMappingRule } from '../../shared/routing/mapping/apply-mapping.ts';
import { isRegion } from '../../shared/routing/consent/region.ts';
import { checkLogic, expressionsLeft } from '../../shared/routing/predicate/predicate.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { checkTag, checkTrigger, checkVariable } from '../../shared/web-snippet/tags/check-tags.ts';
import { checkSource } from './check-source.ts';
import { refuseProblems } from './check-together.ts';
import { checkPlanRule, checkPlannedEvent } from './check-tracking-plan.ts';

type BodyOf<Name extends CollectionName> = Static<Extract<Registered, { readonly name: Name }>['body']>;

/**
 * Checks of an entity that a schema cannot express, by its collection. They are not next to the schemas, because they
 * compile rules and every service loads the schemas.
 */
const checks: { readonly [Name in CollectionName]?: (body: BodyOf<Name>) => readonly FieldProblem[] } = {
  sources: checkSource,
  // A rule that is disabled or stops events is compiled as if it sent them, because a later change of another field may
  // make it send.
  mappings: (rule) => checkMappingRule({ ...rule, action: 'send' }),
  globalDispatchCenters: ({ categories }) => {
    const expressions = expressionsLeft();
    return categories.flatMap(({ logic }, index) =>
      logic === null ? [] : checkLogic(logic, `categories[${index}].logic`, expressions),
    );
  },
  consentSettings: ({ regions }) =>
    (regions ?? []).flatMap((region, index) =>
      isRegion(region) ? [] : [{ field: `regions[${index}]`, problem: regionProblem }],
    ),
  tagManagerTags: checkTag,
  tagManagerTriggers: checkTrigger,
  tagManagerVariables: checkVariable,
  dataGovernanceEvents: checkPlannedEvent,
  dataGovernanceRules: checkPlanRule,
  experiments: checkExperiment,
  experimentVariants: checkVariant,
  experimentSettings: checkExperimentSettings,
};

const regionProblem =
  'must be EU, EEA or the ISO 3166 code of a country, such as DE, US-CA, or GB for the United Kingdom: others cover no visitor';

/** Throws a 400 for values that fit the schema of their collection but cannot be used. */
export function refuseUnusable({ name }: AnyCollection, body: JsonObject): void {
  // Safe: the body fits the schema of its collection, from which the type of the check derives.
  const check = checks[name] as ((body: JsonObject) => readonly FieldProblem[]) | undefined;
  refuseProblems(check?.(body) ?? []);
}
