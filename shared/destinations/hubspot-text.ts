import { textForm } from '../plan/value-forms.ts';

/** A value as HubSpot takes one, which is text: lists and objects in JSON. Undefined where there is none. */
export function hubspotText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return textForm(value) ?? JSON.stringify(value);
}
