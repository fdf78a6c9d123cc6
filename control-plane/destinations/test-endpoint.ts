import { Type } from 'typebox';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { findLiveDestination } from '../draft/live-version.ts';
import { requireEntity } from '../draft/entity-store.ts';
import { destinationTestReply, sealerFor } from './destination-view.ts';
import { offeredKind, prepareDestination } from './prepare-destination.ts';
import { createTestEvent, runDestinationTest } from './run-test.ts';
import { prepareSandboxTest, scenarioField } from './sandbox.ts';
import { openSettings } from './settings.ts';
import { destinationTests } from './destination-tests.ts';

export const testDestination = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/destinations/{id}/test',
  scope: 'destination:update',
  id: 'testDestination',
  uses: { destinationTests },
  tag: 'Destinations',
  summary:
    'Send one example event to the platform, or to a sandbox that answers as the platform documents. Returns the request ' +
    'and the answer, secrets masked. The test is not counted in health, and ignores status, allowed events, rules and ' +
    'mappings',
  body: Type.Object(
    {
      event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'Name of the event.' })),
      properties: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'Properties of the event.' }),
      ),
      settings: Type.Optional(
        Type.Enum(['draft', 'published'], { default: 'draft', description: 'Which settings to use.' }),
      ),
      sandbox: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'Nothing is sent: a scripted platform judges the request and answers as the real one documents. Needs no ' +
            'account; required settings that are not set get test values.',
        }),
      ),
      scenario: Type.Optional(scenarioField),
    },
    { additionalProperties: false },
  ),
  bodyOptional: true,
  reply: destinationTestReply,
  async handle({ params, body, principal }, { storage, secretBox, destinationTests, now }) {
    const { accountId } = principal;
    const em = storage.fork();
    const row = await requireEntity(em, accountId, 'destinations', params.id);
    const used = body.settings ?? 'draft';
    const source = used === 'draft' ? row.body : await findLiveDestination(em, accountId, row.id);
    if (source === undefined) throw badRequest('settings published: the destination is not in the live version');
    const { type, settings } = source;
    const sealer = sealerFor(secretBox, accountId, row.id);
    const { sandbox = false, scenario = 'success' } = body;
    if (!sandbox && body.scenario !== undefined) throw badRequest('scenario: goes with sandbox true only');
    const given = isJsonObject(settings) ? settings : {};
    const test = sandbox
      ? await prepareSandboxTest(offeredKind(String(type)), openSettings(given, sealer), scenario)
      : { ...prepareDestination(String(type), given, sealer), sandbox: undefined };
    const event = createTestEvent(accountId, test.kind, body, now().getTime());
    // The test is audited first, because a request that cannot be audited must not be sent.
    const tested = { action: 'destination.test', collection: 'destinations', entityId: row.id };
    recordAudit(em, principal, { ...tested, details: { settings: used, ...(sandbox ? { sandbox } : {}) } }, now());
    await em.flush();
    const result =
      test.sandbox === undefined
        ? await destinationTests.run(accountId, { ...test, event })
        : await runDestinationTest({ ...test, event }, test.sandbox.sender);
    return {
      ...result,
      settings: used,
      eventId: event.resolved.event.id,
      sandbox: test.sandbox?.report() ?? null,
    };
  },
});
