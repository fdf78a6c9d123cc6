import { Type } from 'typebox';
import { dataGovernanceRules } from '../../shared/collections/data-governance.ts';
import { mappings } from '../../shared/collections/mappings.ts';
import { personalKinds } from '../../shared/routing/personal-data/personal-kinds.ts';
import { badRequest, conflict, notFound } from '../api/api-error.ts';
import { csvLines } from '../api/csv.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { TextAnswer } from '../api/text-answer.ts';
import { createEntity, edit } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { liveContent, resolveSnapshot } from '../versions/version-store.ts';
import {
  compileCoverage,
  dismissPersonalData,
  everyEvent,
  findPersonalData,
  hashFor,
  proposedAction,
  readPersonalData,
} from './personal-data.ts';
import type { FoundProperty } from './personal-data.ts';

const instant = Type.String({ format: 'date-time' });
const states = ['open', 'drafted', 'covered', 'dismissed'] as const;

const event = Type.String({ minLength: 1, maxLength: 200, description: '`*`: every event.' });
const property = Type.String({
  minLength: 1,
  maxLength: 250,
  description: 'Path of the property, as in rules of the tracking plan: event_properties.contact.email.',
});

const finding = Type.Object({
  event,
  property,
  kind: Type.Enum([...personalKinds]),
  basis: Type.Enum(['name', 'shape', 'both'], {
    description: 'The evidence: the name of the property, the shape of its values, or both.',
  }),
  state: Type.Enum([...states], {
    description:
      'covered: a rule of the live version omits or redacts it, or drops or quarantines its events, or each enabled destination gets it hashed, encrypted, redacted or not at all. ' +
      'drafted: the same holds for the draft only. dismissed: marked as not personal.',
  }),
  seen: Type.Integer({ description: 'Values checked.' }),
  matched: Type.Integer({ description: 'Values that look personal.' }),
  shape: Type.String({ description: 'The shape of a value, such as `aaa@aaaaaaa.aaa`. Never a value.' }),
  proposal: Type.Enum(['Omit', 'Redact'], { description: 'The proposed action of a rule for it.' }),
  firstAt: instant,
  lastAt: instant,
});

type State = (typeof states)[number];

const listPersonalData = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/personal-data',
  scope: 'violation:list',
  id: 'listPersonalData',
  tag: 'Tracking plan',
  summary:
    'Properties of events and visitors that look personal in a sample of the events received, the last seen first. No value is stored. ' +
    '`format=csv` answers text/csv',
  query: Type.Object({
    state: Type.Optional(Type.Enum([...states])),
    format: Type.Optional(Type.Enum(['json', 'csv'])),
  }),
  reply: Type.Object({ entities: Type.Array(finding, { description: 'At most 2,000.' }) }),
  async handle({ query, principal }, { storage, pool }) {
    const { accountId } = principal;
    const em = storage.fork();
    const [found, live, draft] = [
      await readPersonalData(pool, accountId),
      compileCoverage(await liveContent(em, accountId)),
      compileCoverage(await resolveSnapshot(em, accountId, 'draft')),
    ];
    const stateOf = (one: FoundProperty): State => {
      if (one.dismissedAt !== null) return 'dismissed';
      if (live(one)) return 'covered';
      return draft(one) ? 'drafted' : 'open';
    };
    const entities = found
      .map((one) => viewFinding(one, stateOf(one)))
      .filter(({ state }) => query.state === undefined || state === query.state);
    if (query.format !== 'csv') return { entities };
    return new TextAnswer('text/csv; charset=utf-8', csvLines(columns, entities));
  },
});

const columns = [
  'event',
  'property',
  'kind',
  'basis',
  'state',
  'seen',
  'matched',
  'shape',
  'firstAt',
  'lastAt',
] as const;

function viewFinding({ firstAt, lastAt, dismissedAt: _dismissed, ...one }: FoundProperty, state: State) {
  return {
    ...one,
    state,
    proposal: proposedAction(one.kind),
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
  };
}

const dismiss = defineEndpoint({
  method: 'PATCH',
  path: '/rest/v1/personal-data',
  scope: 'dataGovernanceRules:update',
  id: 'updatePersonalData',
  tag: 'Tracking plan',
  summary: 'Mark a property as not personal, or remove the mark',
  body: Type.Object({ event, property, isPersonal: Type.Boolean() }, { additionalProperties: false }),
  reply: Type.Object({ updated: Type.Literal(true) }),
  async handle({ body, principal }, { pool, now }) {
    const by = body.isPersonal ? undefined : { id: principal.id, at: now() };
    if (!(await dismissPersonalData(pool, principal.accountId, body, by))) throw notFound('the property');
    return { updated: true };
  },
});

const proposals = ['Omit', 'Redact', 'Hash', 'Encrypt'] as const;

const propose = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/personal-data/propose',
  scope: 'dataGovernanceRules:create',
  id: 'proposePersonalDataRule',
  tag: 'Tracking plan',
  summary:
    'Add a rule to the draft that protects a property: a rule of the tracking plan that omits or redacts it everywhere, or a mapping of one destination that ' +
    'hashes or encrypts it and keeps the rest. Publish the draft to apply it',
  body: Type.Object(
    {
      event,
      property,
      action: Type.Optional(Type.Enum([...proposals], { description: 'Default: the proposal for its kind.' })),
      destinationId: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'For Hash and Encrypt; it must not have a mapping yet.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  reply: Type.Object({ collection: Type.Enum(['dataGovernanceRules', 'mappings']), id: Type.String() }),
  async handle({ body, principal }, services) {
    const found = await findPersonalData(services.pool, principal.accountId, body);
    if (found === undefined) throw notFound('the property');
    const { action = proposedAction(found.kind), destinationId } = body;
    if (action === 'Omit' || action === 'Redact') {
      if (destinationId !== undefined)
        throw badRequest(`destinationId must be left out for ${action}: a rule applies to all destinations`);
      const rule = ruleFor(found, action);
      const { id } = await edit(services, principal, (editing) => createEntity(editing, dataGovernanceRules, rule));
      return { collection: 'dataGovernanceRules', id };
    }
    if (destinationId === undefined) throw badRequest(`destinationId is required for ${action}`);
    const mapping = mappingFor(found, action, destinationId);
    const { id } = await edit(services, principal, async (editing) => {
      await refuseMapped(editing, principal.accountId, destinationId);
      return createEntity(editing, mappings, mapping);
    });
    return { collection: 'mappings', id };
  },
});

function ruleFor({ event: name, property: path, kind }: FoundProperty, action: 'Omit' | 'Redact') {
  const of = name === everyEvent ? '' : ` of ${name}`;
  return {
    name: `Personal data: ${path}${of}`.slice(0, 250),
    description: `Looks like ${kind.replace('_', ' ')}.`,
    eventName: name === everyEvent ? null : name,
    property: path,
    type: 'Forbidden',
    action,
  };
}

function mappingFor(
  { event: name, property: path, kind }: FoundProperty,
  action: 'Hash' | 'Encrypt',
  destinationId: string,
) {
  const own = /^event_properties\.([^.]+)$/.exec(path)?.[1];
  if (own === undefined)
    throw badRequest(`action must be Omit or Redact: ${path} is not a property of the event itself`);
  const modification = action === 'Encrypt' ? 'Encrypted' : hashFor(kind);
  return {
    name: `Personal data: ${own}`.slice(0, 250),
    destinationId,
    logic: name === everyEvent ? null : { condition: { property: 'event.event', operator: 'Is', value: name } },
    mappings: [{ property: own, map: `{{event.event_properties.${own}}}`, modification }],
    others: 'keep',
  };
}

/** Only the first matching mapping applies, so a new one would replace the existing ones. */
async function refuseMapped({ em }: Editing, accountId: string, destinationId: string): Promise<void> {
  const { mappings: drafted } = await resolveSnapshot(em, accountId, 'draft');
  if (drafted.some((mapping) => mapping['destinationId'] === destinationId)) {
    throw conflict('the destination already has mappings: add the property with a modification there');
  }
}

/** Endpoints for properties that look personal, and their protection. */
export const personalDataEndpoints = [listPersonalData, dismiss, propose];
