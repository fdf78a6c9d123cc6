import { Type } from 'typebox';
import type { Static } from 'typebox';
import { consentSettings } from '../../shared/collections/consent-settings.ts';
import { enabledStatus, nameField, nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest, conflict, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { entityFields } from '../collections/entity-schemas.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadEntities } from '../draft/entity-store.ts';
import { refuseBanner } from './consent-banner.ts';

/** Id of the one record that the platform library reads: it holds every purpose of an account. */
const recordId = 'consent-settings';
const recordName = 'Consent settings';
const kind = 'consentSettings';
const language = 'en';
const noRecord = 'consent settings';

const texts = Type.Array(Type.Object({ language: Type.String(), value: Type.Record(Type.String(), Type.Unknown()) }), {
  maxItems: 100,
});
const category = Type.Object({ value: nameField, label: Type.String({ maxLength: 2_000 }), priority: Type.Integer() });
const rule = Type.Object({
  mode: Type.Enum(['opt_in', 'opt_out']),
  language: Type.Literal(language),
  translations: texts,
  categories: Type.Array(
    Type.Object({
      key: Type.String(),
      value: Type.Object({
        enabled: Type.Boolean(),
        readOnly: Type.Optional(
          nullable(Type.Boolean({ description: 'Granted in every mode, whatever the visitor chooses.' })),
        ),
      }),
    }),
    {
      maxItems: 200,
      description: 'The default for a visitor who has not decided. A category without an entry is denied.',
    },
  ),
});

const head = { name: Type.Literal(recordName), status: enabledStatus };
const none = Type.Array(Type.Never(), { description: 'Not part of Sluice: always empty.' });
const reply = Type.Object({
  ...entityFields,
  ...head,
  kind: Type.Literal(kind),
  categories: Type.Array(category),
  default: rule,
  regions: none,
  services: none,
});

const categories = Type.Array(category, { maxItems: 200 });
const whole = Type.Object({ ...head, categories, default: rule });
const changes = Type.Partial(whole);
type Changes = Static<typeof changes>;

export const consentSettingEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/consent-settings',
    scope: 'consentSettings:list',
    id: 'libraryListConsentSettings',
    tag: 'Consent settings',
    summary: "The account's consent purposes as one record: a list of one entry, or an empty list",
    reply: Type.Object({ entities: Type.Array(reply) }),
    async handle({ principal }, { storage }) {
      const rows = await loadEntities(storage.fork(), principal.accountId, 'consentSettings');
      return { entities: rows.length === 0 ? [] : [view(rows)] };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/consent-settings',
    scope: 'consentSettings:create',
    id: 'libraryCreateConsentSettings',
    tag: 'Consent settings',
    summary: 'Add three purposes, disabled and granted by default; 409 if the account already has purposes',
    body: Type.Object({}, { additionalProperties: false }),
    bodyOptional: true,
    reply,
    handle: ({ principal }, services) =>
      edit(services, principal, async (editing) => {
        if ((await rowsOf(editing)).length > 0) throw conflict('the account already has consent settings');
        for (const [index, name] of ['necessary', 'analytics', 'advertising'].entries()) {
          await createEntity(later(editing, index), consentSettings, {
            name,
            isEnabled: false,
            defaultState: 'Granted',
          });
        }
        return view(await rowsOf(editing));
      }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/consent-settings/{id}',
    scope: 'consentSettings:find',
    id: 'libraryGetConsentSettings',
    tag: 'Consent settings',
    summary: "The account's consent purposes as one record",
    reply,
    async handle({ params, principal }, { storage }) {
      const rows = await loadEntities(storage.fork(), principal.accountId, 'consentSettings');
      return view(known(rows, params.id));
    },
  }),
  defineEndpoint({
    method: 'PUT',
    path: '/rest/v1/consent-settings/{id}',
    scope: 'consentSettings:update',
    id: 'libraryReplaceConsentSettings',
    tag: 'Consent settings',
    summary: "Replace the account's consent purposes; a field of a consent banner is an error that names the field",
    body: whole,
    reply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, (editing) => change(editing, params.id, body)),
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/consent-settings/{id}',
    scope: 'consentSettings:update',
    id: 'libraryUpdateConsentSettings',
    tag: 'Consent settings',
    summary:
      'Change the fields that are sent; a list is replaced whole. The error for a field of a consent banner names the field',
    body: changes,
    reply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, (editing) => change(editing, params.id, body)),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/consent-settings/{id}',
    scope: 'consentSettings:delete',
    id: 'libraryDeleteConsentSettings',
    tag: 'Consent settings',
    summary: "Remove the account's consent purposes from the draft; the reply contains them",
    reply,
    handle: ({ params, principal }, services) =>
      edit(services, principal, async (editing) => {
        const rows = known(await rowsOf(editing), params.id);
        for (const { id } of rows) await deleteEntity(editing, consentSettings, id);
        return view(rows);
      }),
  }),
];

async function change(editing: Editing, id: string | undefined, body: Changes): Promise<JsonObject> {
  refuseBanner(body);
  const rows = known(await rowsOf(editing), id);
  const before = new Map(rows.map((row) => [nameOf(row), row]));
  const given = body.categories?.toSorted((a, b) => a.priority - b.priority);
  const names = given?.map(({ value }) => value) ?? [...before.keys()];
  const granted = body.default === undefined ? undefined : grantedBy(body.default, names);
  if (new Set(names).size < names.length) throw badRequest('categories has a value twice');
  if (names.length === 0) throw badRequest('categories must not be empty');
  const isEnabled = body.status === undefined ? undefined : body.status === 'Enabled';
  for (const [name, row] of before) {
    if (!names.includes(name)) await deleteEntity(editing, consentSettings, row.id);
  }
  for (const [index, name] of names.entries()) {
    const label = given?.[index]?.label;
    const fields = {
      ...(label === undefined ? {} : { description: label === name ? null : label }),
      ...(isEnabled === undefined ? {} : { isEnabled }),
      ...(granted === undefined ? {} : { defaultState: granted.has(name) ? 'Granted' : 'Denied' }),
    };
    const row = before.get(name);
    if (row !== undefined) await patchEntity(editing, consentSettings, row.id, fields);
    else await createEntity(later(editing, index), consentSettings, { name, isEnabled: rows.some(isOn), ...fields });
  }
  return view(await rowsOf(editing));
}

/**
 * The categories that a rule grants to visitors who have not decided; in `opt_in` mode only those that they cannot
 * change.
 */
function grantedBy({ mode, categories: entries }: Static<typeof rule>, names: readonly string[]): ReadonlySet<string> {
  for (const [index, { key }] of entries.entries()) {
    if (!names.includes(key))
      throw badRequest(`default.categories[${index}].key names ${key}, which is not a category`);
  }
  const isGranted = ({ value }: (typeof entries)[number]): boolean =>
    value.enabled && (mode === 'opt_out' || value.readOnly === true);
  return new Set(entries.filter(isGranted).map(({ key }) => key));
}

/** Gives the purposes of one edit creation times a millisecond apart, because lists are sorted by creation time. */
const later = (editing: Editing, index: number): Editing => ({
  ...editing,
  now: new Date(editing.now.getTime() + index),
});

async function rowsOf({ em, principal }: Editing): Promise<ConfigEntityRow[]> {
  await em.flush();
  return loadEntities(em, principal.accountId, 'consentSettings');
}

function known(rows: readonly ConfigEntityRow[], id: string | undefined): readonly ConfigEntityRow[] {
  if (rows.length === 0 || id !== recordId) throw notFound(noRecord);
  return rows;
}

type Purpose = Static<typeof consentSettings.body>;

const purposeOf = (row: ConfigEntityRow): Purpose => ({ ...consentSettings.defaults, ...row.body }) as Purpose;
const nameOf = (row: ConfigEntityRow): string => purposeOf(row).name;
const isOn = (row: ConfigEntityRow): boolean => purposeOf(row).isEnabled;

/** The record, from rows with the newest first; its categories are in the order of creation. */
function view(newestFirst: readonly ConfigEntityRow[]): JsonObject {
  const rows = newestFirst.toReversed();
  const purposes = rows.map(purposeOf);
  const isOptOut = purposes.every(({ defaultState }) => defaultState === 'Granted');
  const times = rows.flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt ?? createdAt]);
  const instants = times.map((time) => time.getTime());
  return {
    id: recordId,
    kind,
    name: recordName,
    status: rows.some(isOn) ? 'Enabled' : 'Disabled',
    categories: purposes.map(({ name, description }, priority) => ({
      value: name,
      label: description ?? name,
      priority,
    })),
    default: {
      mode: isOptOut ? 'opt_out' : 'opt_in',
      language,
      translations: [{ language, value: {} }],
      categories: purposes.map(({ name, defaultState }) => {
        const enabled = defaultState === 'Granted';
        return { key: name, value: { enabled, readOnly: enabled && !isOptOut } };
      }),
    },
    regions: [],
    services: [],
    createdAt: new Date(Math.min(...instants)).toISOString(),
    updatedAt: new Date(Math.max(...instants)).toISOString(),
  };
}
