import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { eventOutcomes } from '../../shared/destinations/event-outcomes.ts';
import type { EventOutcome } from '../../shared/destinations/event-outcomes.ts';
import type { DestinationKind } from '../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { requireEntity } from '../draft/entity-store.ts';
import { offeredKind } from './prepare-destination.ts';

const standardEventReply = Type.Object({
  label: Type.String({ description: 'The call or event: identify, Order Completed.' }),
  outcome: Type.Enum(['sent', 'skipped', 'refused'], {
    description:
      'skipped: the platform has no use for the event. refused: the made-up event lacks something that the platform requires.',
  }),
  name: nullable(Type.String({ description: 'The name under which the platform receives it.' })),
  reason: nullable(Type.String({ description: 'Why the event is not sent.' })),
  requests: Type.Array(
    Type.Object({
      method: Type.String(),
      url: Type.String(),
      body: nullable(
        Type.String({
          description: 'The body as text. A form is shown as JSON; base64-encoded JSON in JSON is decoded.',
        }),
      ),
    }),
    { description: 'In the order in which they are sent.' },
  ),
});

/** The requests of a destination without a mapping. Nothing is sent, and no stored secret is opened. */
export const listStandardEvents = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/{id}/standard-events',
  scope: 'destination:find',
  id: 'listDestinationStandardEvents',
  tag: 'Destinations',
  summary:
    'The request of every call and standard event without a mapping, for an example customer with all properties, ' +
    'with the settings of the draft and example secrets',
  reply: Type.Object({ entities: Type.Array(standardEventReply) }),
  async handle({ params, principal }, { storage }) {
    const { body } = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
    const kind = offeredKind(String(body['type']));
    const stored = isJsonObject(body['settings']) ? body['settings'] : {};
    return { entities: outcomesOf(kind, stored).map(viewOutcome) };
  },
});

/**
 * Uses the stored settings, with sample values for secrets and for missing required settings. If these are not enough,
 * because the kind needs one of several ways to sign in, uses the kind's whole example as defaults. Throws a 400 for
 * stored settings that the kind refuses.
 */
function outcomesOf(kind: DestinationKind, stored: JsonObject): readonly EventOutcome[] {
  const { descriptor, exampleSettings } = kind;
  const secrets = new Set(descriptor.settings.flatMap((one) => (one.type === 'Secret' ? [one.key] : [])));
  const required = new Set(
    descriptor.settings.flatMap((one) => ('required' in one && one.required === true ? [one.key] : [])),
  );
  const isSet = (key: string): boolean => (stored[key] ?? null) !== null;
  const shown = Object.fromEntries(Object.entries(stored).filter(([key]) => isSet(key) && !secrets.has(key)));
  const madeUp = Object.entries(exampleSettings).filter(([key]) => required.has(key) || isSet(key));
  try {
    return eventOutcomes(kind, { ...Object.fromEntries(madeUp), ...shown });
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
  }
  try {
    return eventOutcomes(kind, { ...exampleSettings, ...shown });
  } catch (error) {
    if (error instanceof SettingError) throw badRequest(error.message);
    throw error;
  }
}

function viewOutcome(outcome: EventOutcome) {
  const { label } = outcome;
  if (outcome.outcome !== 'sent')
    return { label, outcome: outcome.outcome, name: null, reason: outcome.reason, requests: [] };
  const requests = outcome.requests.map(({ method, url, content }) => ({
    method,
    url,
    body: method === 'GET' ? null : typeof content === 'string' ? content : JSON.stringify(content),
  }));
  return { label, outcome: outcome.outcome, name: outcome.name ?? null, reason: null, requests };
}
