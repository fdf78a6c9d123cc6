import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { mappingPriorityMax, mappings } from '../../shared/collections/mappings.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { modificationNames } from '../../shared/routing/modifications/modifications.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { findEntity } from '../draft/entity-store.ts';
import { anyLogic } from './given-logic.ts';
import { templateOf } from './mapping-templates.ts';

export type MappingBody = Static<typeof mappings.body>;

/** One mapped property as the platform library sends it. Without a modification the value is sent unchanged. */
export const mappedField = Type.Object(
  {
    ...mappings.body.properties.mappings.items.properties,
    modification: Type.Optional(nullable(Type.Enum([...modificationNames]))),
  },
  { additionalProperties: false },
);

/** A mapping in the platform library's shape. */
export const mappingReply = Type.Object({
  id: Type.String(),
  name: nullable(Type.String()),
  updatedAt: nullable(Type.String({ format: 'date-time' })),
  isEnabled: Type.Boolean(),
  templateName: nullable(Type.String()),
  templateId: nullable(Type.String({ description: 'Null for a mapping with an event name that no template has.' })),
  destinationId: nullable(Type.String()),
  sourceId: Type.Null({ description: 'Mappings of sources are not part of Sluice.' }),
  isDefaultMapping: Type.Boolean(),
  priority: Type.Integer({ description: 'The lowest is tried first; the first mapping that applies is used.' }),
  action: Type.Enum(['send', 'stop'], { description: 'Sluice only: stop sends nothing.' }),
  mappings: Type.Array(mappings.body.properties.mappings.items),
  logic: { ...anyLogic, description: 'An empty logic always applies.' },
});

/**
 * Priority of a destination's default mapping: the last priority, so that all other mappings are tried first. The
 * default mapping always applies, and is identified by this priority.
 */
export const defaultPriority = mappingPriorityMax;

export function isDefaultRule({ priority, logic }: Pick<MappingBody, 'priority' | 'logic'>): boolean {
  return priority === defaultPriority && logic === null;
}

/** `type`: the kind of the mapping's destination. */
export function viewMapping(row: ConfigEntityRow, type: string): JsonObject {
  const rule = bodyOf(row);
  const isDefault = isDefaultRule(rule);
  const template = templateOf(type, { isDefault, eventName: rule.eventName });
  return {
    id: row.id,
    name: rule.name,
    updatedAt: (row.updatedAt ?? row.createdAt).toISOString(),
    isEnabled: rule.isEnabled,
    templateName: template?.name ?? null,
    templateId: template?.id ?? null,
    destinationId: rule.destinationId,
    sourceId: null,
    isDefaultMapping: isDefault,
    priority: rule.priority,
    action: rule.action,
    mappings: rule.mappings,
    logic: rule.logic ?? {},
  };
}

export function bodyOf(row: ConfigEntityRow): MappingBody {
  return { ...mappings.defaults, ...row.body } as MappingBody;
}

/** The stored form of a mapping's rows. */
export function storedRows(rows: readonly Static<typeof mappedField>[]): MappingBody['mappings'] {
  return rows.map((row) => ({ ...row, modification: row.modification ?? 'None' }));
}

/** The rules of a destination in the order in which they are tried. */
export async function rulesOf(
  em: EntityManager,
  accountId: string,
  destinationId: string,
): Promise<readonly ConfigEntityRow[]> {
  const rows = await em.find(ConfigEntity, { accountId, collection: 'mappings', body: { destinationId } });
  return rows.toSorted((a, b) => bodyOf(a).priority - bodyOf(b).priority || (a.id < b.id ? -1 : 1));
}

/** Numbers the mappings of one destination from 0 in this order; the default mapping keeps its priority. */
export async function numberRules(editing: Editing, inOrder: readonly ConfigEntityRow[]): Promise<void> {
  const others = inOrder.filter((row) => !isDefaultRule(bodyOf(row)));
  for (const [priority, row] of others.entries()) await patchEntity(editing, mappings, row.id, { priority });
}

/** The kind of a destination of the draft; undefined if the account has no destination of that id. */
export async function destinationType(em: EntityManager, accountId: string, id: string): Promise<string | undefined> {
  const row = await findEntity(em, accountId, 'destinations', id);
  return row === undefined ? undefined : String(row.body['type']);
}
