import type { JsonObject } from '../../../../shared/runtime/json.ts';

/** A rule of the tracking plan that forbids a property in every event, with the fields of `own`. */
export const forbiddenRule = (id: string, own: JsonObject): JsonObject & { readonly id: string } => ({
  name: id,
  description: null,
  isEnabled: true,
  severity: 'Warning',
  eventName: null,
  type: 'Forbidden',
  expected: null,
  ...own,
  id,
});
