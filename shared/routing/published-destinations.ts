import type { AccountConfig, SnapshotEntity } from '../contracts/config/account-config.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';

/** A destination as the account's live version has it. Secret settings are still sealed. */
export type PublishedDestination = {
  readonly id: string;
  readonly accountId: string;
  readonly type: string;
  /** As its operator calls it; '' where nobody does. */
  readonly name: string;
  readonly isEnabled: boolean;
  readonly settings: JsonObject;
  /** Undefined: every source. */
  readonly limitedToSourceIds: ReadonlySet<string> | undefined;
  readonly hashingSalt: string | undefined;
};

/** The destinations of an account's live version. */
export function publishedDestinations({ accountId, collections }: AccountConfig): PublishedDestination[] {
  return collections.destinations.map((entity) => readDestination(accountId, entity));
}

/** One of them; undefined where the version does not have it. */
export function findPublished({ accountId, collections }: AccountConfig, id: string): PublishedDestination | undefined {
  const entity = collections.destinations.find((destination) => destination.id === id);
  return entity === undefined ? undefined : readDestination(accountId, entity);
}

function readDestination(accountId: string, entity: SnapshotEntity): PublishedDestination {
  const { type, name, status, settings, limitedToSourceIds, hashingSalt } = entity;
  return {
    id: entity.id,
    accountId,
    type: typeof type === 'string' ? type : '',
    name: typeof name === 'string' ? name : '',
    isEnabled: status === 'Enabled',
    settings: isJsonObject(settings) ? settings : {},
    // An empty list limits nothing, as the field's description promises.
    limitedToSourceIds:
      Array.isArray(limitedToSourceIds) && limitedToSourceIds.length > 0
        ? new Set(limitedToSourceIds.filter((id) => typeof id === 'string'))
        : undefined,
    hashingSalt: typeof hashingSalt === 'string' && hashingSalt !== '' ? hashingSalt : undefined,
  };
}
