import type { JsonObject } from '../api/types.ts';
import type { Operator } from './logic.ts';

/** The operators and modifications that rules can use. */
export type RuleLanguage = {
  readonly operators: readonly Operator[];
  readonly modifications: readonly { readonly name: string; readonly summary: string }[];
};

export type MappingRow = { readonly property: string; readonly map: string; readonly modification: string };

export type MappingFields = {
  readonly name: string | null;
  readonly destinationId: string;
  readonly priority: number;
  readonly isEnabled: boolean;
  readonly logic: JsonObject | null;
  readonly action: 'send' | 'stop';
  readonly eventName: string | null;
  readonly mappings: readonly MappingRow[];
  readonly others: 'omit' | 'keep';
};

export type Category = {
  readonly name: string;
  readonly priority: number;
  readonly destinationIds: readonly string[];
  readonly logic: JsonObject | null;
};

export type DispatchRulesFields = {
  readonly name: string | null;
  readonly isEnabled: boolean;
  readonly categories: readonly Category[];
};

export type AllowedEventFields = {
  readonly name: string;
  readonly description: string | null;
  readonly destinationIds: readonly string[];
};

export type ConsentFields = {
  readonly name: string;
  readonly description: string | null;
  readonly isEnabled: boolean;
  readonly defaultState: 'Granted' | 'Denied';
  readonly regions: readonly string[] | null;
  readonly destinationIds: readonly string[];
  readonly signals: ConsentSignals | null;
};

/** A rule of the tracking plan. */
export type RuleFields = {
  readonly name: string;
  readonly description: string | null;
  readonly isEnabled: boolean;
  readonly severity: 'Info' | 'Warning' | 'Error';
  readonly eventName: string | null;
  readonly property: string;
  readonly type: 'Required' | 'Forbidden' | 'Type' | 'Pattern' | 'OneOf' | 'Range';
  readonly expected: string | null;
  readonly action: 'Report' | 'Omit' | 'Redact' | 'Quarantine' | 'Drop';
};

/** An event of the tracking plan. */
export type EventFields = {
  readonly name: string;
  readonly description: string | null;
  readonly status: 'Proposed' | 'Approved' | 'Deprecated';
  readonly owner: string | null;
  readonly action: RuleFields['action'];
  readonly properties: readonly PlannedProperty[];
};

export type PlannedProperty = {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';
  readonly isRequired: boolean;
  readonly description: string | null;
  readonly allowedValues?: readonly (string | number | boolean)[] | null;
};

/** Consent signals that decide on a purpose if neither the event nor its visitor has an answer. */
export type ConsentSignals = {
  readonly segment?: readonly string[] | undefined;
  readonly rudderstack?: readonly string[] | undefined;
  readonly oneTrust?: readonly string[] | undefined;
  readonly cookiebot?: readonly string[] | undefined;
  readonly didomi?: readonly string[] | undefined;
  readonly tcf?:
    | {
        readonly purposes: readonly number[];
        readonly vendors?: readonly number[] | undefined;
        readonly onlyWhereGdprApplies?: boolean | undefined;
        readonly segment?: 'core' | 'publisher' | undefined;
      }
    | undefined;
  readonly gpp?: readonly ('saleOptOut' | 'sharingOptOut' | 'targetedAdvertisingOptOut')[] | undefined;
  readonly gpc?: 'off' | 'deny' | 'always' | undefined;
  readonly googleConsentMode?: readonly ('ad_storage' | 'ad_user_data' | 'ad_personalization')[] | undefined;
};

/** An entity of the draft: its own fields and those that all entities have. */
export type Kept<Fields> = Fields & {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

/** The fields to send when an entity is saved: without its id and times. */
export function fieldsOf<Fields extends object>(kept: Kept<Fields>): Fields {
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = kept;
  return fields as unknown as Fields;
}
