import { Type } from 'typebox';
import { isJsonObject } from '../../shared/process/json.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { sealerFor } from '../destinations/destination-view.ts';
import { findLiveDestination } from '../destinations/live-destination.ts';
import { prepareDestination } from '../destinations/prepare-destination.ts';
import { findEntity } from '../draft/entity-store.ts';
import { badRequest, notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { createTrialEvent } from '../trial/trial-event.ts';
import { trialReply } from '../trial/trial-view.ts';

export const testDestination = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/destinations/:id/test',
  scope: 'destination:update',
  id: 'testDestination',
  tag: 'Destinations',
  summary:
    'Send one made-up event to the platform and see what went out and what came back, secrets masked; not counted in ' +
    'health, whatever the status, allowed events, rules and mappings say',
  body: Type.Object(
    {
      event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'Its name.' })),
      properties: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Its properties.' })),
      settings: Type.Optional(
        Type.Enum(['draft', 'published'], { default: 'draft', description: 'Which settings to send with.' }),
      ),
    },
    { additionalProperties: false },
  ),
  bodyOptional: true,
  reply: trialReply,
  async handle({ params, body, actor }, { storage, secretBox, trials, now }) {
    const { accountId } = actor;
    const em = storage.fork();
    const row = await findEntity(em, accountId, 'destinations', params['id'] ?? '');
    if (row === undefined) throw notFound('destination');
    const used = body.settings ?? 'draft';
    const source = used === 'draft' ? row.body : await findLiveDestination(em, accountId, row.id);
    if (source === undefined) throw badRequest('settings published: the destination is not in the live version');
    const { type, settings } = source;
    const sealer = sealerFor(secretBox, accountId, row.id);
    const trial = prepareDestination(String(type), isJsonObject(settings) ? settings : {}, sealer);
    const event = createTrialEvent(accountId, body, now().getTime());
    // What cannot be audited is not sent.
    const tested = { action: 'destination.test', collection: 'destinations', entityId: row.id };
    recordAudit(em, actor, { ...tested, details: { settings: used } }, now());
    await em.flush();
    const result = await trials.run(accountId, { ...trial, event });
    return { ...result, settings: used, eventId: event.resolved.event.id };
  },
});
