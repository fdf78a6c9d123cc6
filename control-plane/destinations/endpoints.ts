import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/contracts/config/define-collection.ts';
import { creatableDestinationTypes, destinationTypes } from '../../shared/collections/destination-types.ts';
import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import { unavailableDestinationTypes } from '../../shared/collections/unavailable-destination-types.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { badRequest, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { createSchema, patchSchema } from '../collections/entity-schemas.ts';
import { deleteEntity, edit } from '../draft/edit-entities.ts';
import { entityPosition, findEntity, listEntities } from '../draft/entity-store.ts';
import { sumHealthSteps } from '../health/health-series.ts';
import type { LiveValues } from '../health/live-values.ts';
import type { LogFigures } from '../health/log-figures.ts';
import { healthReply, summarizeHealth } from '../health/summarize-health.ts';
import { viewSending } from '../health/view-sending.ts';
import {
  destinationDescriptorReply,
  destinationReply,
  destinationTestReply,
  sealerFor,
  viewDestination,
} from './destination-view.ts';
import type { DestinationTests } from './destination-tests.ts';
import { createDestination, patchDestination } from './edit-destinations.ts';
import { findLiveDestination } from '../draft/live-version.ts';
import { listFailures } from './list-failures.ts';
import { offeredKind, prepareDestination } from './prepare-destination.ts';
import { createTestEvent, runDestinationTest } from './run-test.ts';
import { prepareSandboxTest, scenarioField } from './sandbox.ts';
import { openSettings } from './settings.ts';

const ids = destinationKinds.map(({ descriptor }) => descriptor.id);
const offered = `One that GET /rest/v1/destinations/types offers: ${ids.join(', ')}.`;

const entities = destinationKinds.map((kind) => kind.descriptor);

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });

/** What destinations need beside what every endpoint has. */
export type DestinationServices = {
  readonly liveValues: LiveValues;
  readonly destinationTests: DestinationTests;
  readonly logFigures: { read(): Promise<LogFigures> };
};

export const destinationEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations',
    scope: 'destination:list',
    id: 'listDestinations',
    tag: 'Destinations',
    summary: 'List destinations, newest first',
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(enabledStatus),
      type: Type.Optional(Type.Enum([...destinationTypes])),
    }),
    reply: pageOf(destinationReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const { status, type } = query;
      const list = { list: 'destinations', accountId, filters: { status, type } };
      const { limit, after } = paginator.read(query, list);
      const filters = { equals: { status, type } };
      const rows = await listEntities(storage.fork(), accountId, 'destinations', filters, { limit: limit + 1, after });
      return paginator.page(list, limit, rows, entityPosition, viewDestination);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/destinations',
    scope: 'destination:create',
    id: 'createDestination',
    tag: 'Destinations',
    summary:
      'Add a destination to the draft; without its required settings it is Disabled, and cannot be enabled or published',
    body: Type.Object(
      {
        ...createSchema(destinations).properties,
        type: Type.Enum([...creatableDestinationTypes], { description: offered }),
      },
      { additionalProperties: false },
    ),
    reply: destinationReply,
    async handle({ body, principal }, services) {
      const fields = body as Partial<DestinationBody> & { readonly type: string };
      return viewDestination(
        await edit(services, principal, (editing) => createDestination(editing, services.secretBox, fields)),
      );
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/types',
    scope: 'destination:list',
    id: 'listDestinationTypes',
    tag: 'Destinations',
    summary: 'The kinds of destination that can be created, and the settings of each',
    reply: Type.Object({ entities: Type.Array(destinationDescriptorReply) }),
    handle: async () => ({ entities }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/types/unavailable',
    scope: 'destination:list',
    id: 'listUnavailableDestinationTypes',
    tag: 'Destinations',
    summary: 'The kinds of destination that are known by name and cannot be created, and why',
    reply: Type.Object({ entities: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() })) }),
    handle: async () => ({ entities: [...unavailableDestinationTypes] }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id',
    scope: 'destination:find',
    id: 'getDestination',
    tag: 'Destinations',
    summary: 'Read a destination',
    reply: destinationReply,
    async handle({ params, principal }, { storage }) {
      const row = await findEntity(storage.fork(), principal.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      return viewDestination(row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/destinations/:id',
    scope: 'destination:update',
    id: 'updateDestination',
    tag: 'Destinations',
    summary:
      'Change fields of a destination; settings are merged key by key. With another scheme, host or port to send to, its ' +
      'secrets have to be sent again',
    body: patchSchema(destinations, { status: Type.Optional(nullable(enabledStatus)) }),
    reply: destinationReply,
    async handle({ params, body, principal }, services) {
      return viewDestination(
        await edit(services, principal, (editing) =>
          patchDestination(editing, services.secretBox, params['id'] ?? '', body as Record<string, unknown>),
        ),
      );
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/destinations/:id',
    scope: 'destination:delete',
    id: 'deleteDestination',
    tag: 'Destinations',
    summary: 'Take a destination out of the draft',
    reply: Type.Boolean(),
    async handle({ params, principal }, services) {
      await edit(services, principal, (editing) => deleteEntity(editing, destinations, params['id'] ?? ''));
      return true;
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id/health',
    scope: 'destination:find',
    id: 'getDestinationHealth',
    tag: 'Destinations',
    summary: 'Dispatch health of the last 24 hours',
    reply: healthReply,
    async handle({ params, principal }, { storage, liveValues, now }: CoreServices & DestinationServices) {
      const row = await findEntity(storage.fork(), principal.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      return summarizeHealth(liveValues.healthReports(row.id), now().getTime());
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id/health/series',
    scope: 'destination:find',
    id: 'getDestinationHealthSeries',
    tag: 'Destinations',
    summary: 'Dispatch health of the last 24 hours, step by step',
    query: Type.Object({
      stepMinutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 60, default: 60, description: 'How long a step is.' }),
      ),
    }),
    reply: Type.Object({
      stepMinutes: count,
      steps: Type.Array(
        Type.Object({
          at: Type.Integer({ description: 'When it began, in ms since the epoch.' }),
          succeeded: count,
          failed: count,
          stopped: count,
          blocked: { ...count, description: 'By an account-wide dispatch rule.' },
        }),
        { description: 'Oldest first; the last one is not over yet.' },
      ),
    }),
    async handle({ params, query, principal }, { storage, liveValues, now }: CoreServices & DestinationServices) {
      const row = await findEntity(storage.fork(), principal.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      const stepMinutes = query.stepMinutes ?? 60;
      const steps = Math.ceil((24 * 60) / stepMinutes);
      const reports = liveValues.healthReports(row.id);
      return { stepMinutes, steps: sumHealthSteps(reports, { nowMs: now().getTime(), stepMinutes, steps }) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id/backlog',
    scope: 'destination:find',
    id: 'getDestinationBacklog',
    tag: 'Destinations',
    summary: 'What waits for a destination in the log',
    reply: Type.Object({
      waitingFrames: { ...count, description: 'Messages it has not finished; each is one event or many.' },
      retryingFrames: { ...count, description: 'Messages that wait for another attempt.' },
      deadLetters: { ...count, description: 'Dead letters, kept until they are replayed, deleted or expire.' },
    }),
    async handle({ params, principal }, { storage, logFigures }: CoreServices & DestinationServices) {
      const row = await findEntity(storage.fork(), principal.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      return (await logFigures.read()).backlogOf(row.id);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id/sending',
    scope: 'destination:find',
    id: 'getDestinationSending',
    tag: 'Destinations',
    summary: 'How requests to a destination go: how many at a time, how fast it answers, whether it is left alone',
    reply: Type.Object({
      breaker: nullable(
        Type.Enum(['closed', 'open', 'probing'], {
          description:
            'open: it failed too often and is left alone for a while. probing: it is tried out, a request at a time. ' +
            'Null while nothing was sent yet.',
        }),
      ),
      isAccessRefused: Type.Boolean({ description: 'It refuses its key or token: its events wait.' }),
      concurrency: nullable({
        ...count,
        description: 'Requests that may be in flight, as it has shown that it can take.',
      }),
      answerMs: nullable(
        Type.Object({
          half: Type.Number({ description: 'Half of the last 64 requests were answered within so many ms.' }),
          most: Type.Number({ description: '95 of 100 were.' }),
        }),
      ),
      at: nullable({ ...instant, description: 'Of the last attempt: since then nothing has changed.' }),
    }),
    async handle({ params, principal }, { storage, liveValues }: CoreServices & DestinationServices) {
      const row = await findEntity(storage.fork(), principal.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      return viewSending(liveValues.healthReports(row.id));
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/:id/failures',
    scope: 'destination:find',
    id: 'listDestinationFailures',
    tag: 'Destinations',
    summary: 'Why recent events did not reach a destination, by reason, the most frequent first, 50 at most',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({
          reason: Type.String(),
          outcome: Type.Enum(['retrying', 'rejected']),
          events: { ...count, description: 'Events of the recent-events view.' },
          lastAt: instant,
          lastEventId: Type.String(),
        }),
      ),
    }),
    async handle({ params, principal }, { storage, pool }) {
      const { accountId } = principal;
      const row = await findEntity(storage.fork(), accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      return { entities: await listFailures(pool, accountId, row.id) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/destinations/:id/test',
    scope: 'destination:update',
    id: 'testDestination',
    tag: 'Destinations',
    summary:
      'Send one made-up event to the platform, or in the sandbox to one that answers as it documents, and see what went ' +
      'out and what came back, secrets masked; not counted in health, whatever the status, allowed events, rules and ' +
      'mappings say',
    body: Type.Object(
      {
        event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'Its name.' })),
        properties: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Its properties.' })),
        settings: Type.Optional(
          Type.Enum(['draft', 'published'], { default: 'draft', description: 'Which settings to send with.' }),
        ),
        sandbox: Type.Optional(
          Type.Boolean({
            default: false,
            description:
              'Nothing is sent: a scripted platform judges the request and answers as the real one documents. Needs no ' +
              'account; what is required and not set yet is made up.',
          }),
        ),
        scenario: Type.Optional(scenarioField),
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: destinationTestReply,
    async handle(
      { params, body, principal },
      { storage, secretBox, destinationTests, now }: CoreServices & DestinationServices,
    ) {
      const { accountId } = principal;
      const em = storage.fork();
      const row = await findEntity(em, accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
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
      // What cannot be audited is not sent.
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
  }),
];
