import type { JsonObject } from '../../shared/process/json.ts';

/** An entity that is about to be added (no body before), changed, or taken out (none after). */
export type EntityEdit = {
  readonly id: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
};
