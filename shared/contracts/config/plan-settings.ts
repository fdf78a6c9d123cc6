import type { Static } from 'typebox';
import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';

/** The action for an event or property that breaks the tracking plan. */
export const planActions = ['Report', 'Omit', 'Redact', 'Quarantine', 'Drop'] as const;

/** The effect of a violation: Info is counted, a Warning is shown on the overview, an Error also raises an alert. */
export const planSeverities = ['Info', 'Warning', 'Error'] as const;

const severity = Type.Enum([...planSeverities], {
  description: 'Info is counted. Warning is shown on the overview. Error is shown there first and raises an alert.',
});

/** The actions leave out Omit and Redact, which do not apply to a whole event. */
export const unknownEventsSetting = Type.Object(
  {
    action: Type.Enum(['Report', 'Quarantine', 'Drop'], {
      description:
        'Report counts the event, Quarantine holds it until it is released or deleted, Drop accepts it and stores no part of it.',
    }),
    severity,
  },
  {
    additionalProperties: false,
    description:
      'The action for an event that the tracking plan does not list. It applies once at least one event of the plan is Approved; ' +
      "Sluice's own events, whose names begin with $, are never unknown. Not versioned: a change takes effect immediately.",
  },
);

export const unknownPropertiesSetting = Type.Object(
  {
    action: Type.Enum([...planActions], {
      description:
        'Report counts the event, Omit removes the property, Redact replaces it with the text REDACTED, Quarantine holds the event, Drop accepts the event and stores no part of it.',
    }),
    severity,
  },
  {
    additionalProperties: false,
    description:
      'The action for a property that the entry of its event in the tracking plan does not list. It applies once at least one ' +
      'event of the plan is Approved. Not versioned: a change takes effect immediately.',
  },
);

/** An account's settings for events and properties that its tracking plan does not name. */
export type PlanSettings = {
  readonly unknownEvents: Static<typeof unknownEventsSetting>;
  readonly unknownProperties: Static<typeof unknownPropertiesSetting>;
};

export const defaultPlanSettings: PlanSettings = {
  unknownEvents: { action: 'Report', severity: 'Warning' },
  unknownProperties: { action: 'Report', severity: 'Info' },
};

/** Settings that another build may have written, with values that this build may not know. */
export type PublishedPlanSettings = {
  readonly [Name in keyof PlanSettings]: { readonly action: string; readonly severity: string };
};

/** Reads settings that this build or another one stored; a missing field gets its default. */
export function readPlanSettings(stored: unknown): PublishedPlanSettings {
  const given = isJsonObject(stored) ? stored : {};
  const setting = (name: keyof PlanSettings) => {
    const own = isJsonObject(given[name]) ? given[name] : {};
    const { action, severity: loud } = defaultPlanSettings[name];
    return {
      action: typeof own['action'] === 'string' ? own['action'] : action,
      severity: typeof own['severity'] === 'string' ? own['severity'] : loud,
    };
  };
  return { unknownEvents: setting('unknownEvents'), unknownProperties: setting('unknownProperties') };
}
