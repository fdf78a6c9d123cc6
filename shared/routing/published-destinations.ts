import type { UnreadableEntity } from '../contracts/config/account-config.ts';
import type { JsonObject } from '../runtime/json.ts';

/** A destination in the account's live version, with its secret settings still sealed. */
export type PublishedDestination = {
  readonly id: string;
  readonly accountId: string;
  readonly type: string;
  /** The name that the operator gave the destination; '' if there is none. */
  readonly name: string;
  readonly isEnabled: boolean;
  readonly settings: JsonObject;
  /** Undefined: every source. */
  readonly limitedToSourceIds: ReadonlySet<string> | undefined;
  readonly hashingSalt: string | undefined;
  /** A field that this build cannot read: the destination receives nothing until a build can read it. */
  readonly unreadable: string | undefined;
};

type Destination = {
  readonly id: string;
  readonly type: string;
  readonly name: string | null;
  readonly status: string;
  readonly settings: JsonObject | null;
  readonly limitedToSourceIds: readonly string[] | null;
  readonly hashingSalt: string | null;
};

/** The part of a live version with destinations. */
export type DestinationsConfig = {
  readonly accountId: string;
  readonly collections: { readonly destinations: readonly Destination[] };
  readonly unreadable: readonly UnreadableEntity[];
};

/**
 * The destinations of an account's live version, including those that this build cannot read: their position in the log
 * is kept.
 */
export function publishedDestinations(config: DestinationsConfig): PublishedDestination[] {
  const { accountId, collections } = config;
  return [...collections.destinations.map((entity) => readDestination(accountId, entity)), ...lostDestinations(config)];
}

/** The destination with an id; undefined if the version does not contain it. */
export function findPublished(config: DestinationsConfig, id: string): PublishedDestination | undefined {
  const entity = config.collections.destinations.find((destination) => destination.id === id);
  if (entity !== undefined) return readDestination(config.accountId, entity);
  return lostDestinations(config).find((destination) => destination.id === id);
}

function lostDestinations({ accountId, unreadable }: DestinationsConfig): PublishedDestination[] {
  const lost = unreadable.filter(({ collection, isDefaulted }) => collection === 'destinations' && !isDefaulted);
  const fields = new Map(lost.map(({ id, field }) => [id, field]));
  return [...fields].map(([id, field]) => ({ ...unknownDestination, id, accountId, unreadable: field }));
}

const unknownDestination = {
  type: '',
  name: '',
  isEnabled: true,
  settings: {},
  limitedToSourceIds: undefined,
  hashingSalt: undefined,
} as const;

function readDestination(accountId: string, entity: Destination): PublishedDestination {
  const { id, type, name, status, settings, limitedToSourceIds, hashingSalt } = entity;
  return {
    id,
    accountId,
    type,
    name: name ?? '',
    isEnabled: status === 'Enabled',
    settings: settings ?? {},
    // An empty list limits nothing, as the field's description states.
    limitedToSourceIds:
      limitedToSourceIds === null || limitedToSourceIds.length === 0 ? undefined : new Set(limitedToSourceIds),
    hashingSalt: hashingSalt || undefined,
    unreadable: undefined,
  };
}
