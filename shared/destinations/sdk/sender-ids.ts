import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

/**
 * The id that an event's sender set for one platform. `type` is RudderStack's name of the platform;
 * RudderStack's libraries send `externalId: [{type, id}]` in the context.
 * https://www.rudderstack.com/docs/event-spec/standard-events/common-fields/#contextual-fields
 */
export function senderId({ context }: Pick<SentEvent, 'context'>, type: string): string | undefined {
  const listed = context['externalId'];
  if (!Array.isArray(listed)) return undefined;
  const entry: unknown = listed.find((one) => isJsonObject(one) && one['type'] === type);
  const id = isJsonObject(entry) ? textForm(entry['id'])?.trim() : undefined;
  return id === '' ? undefined : id;
}
