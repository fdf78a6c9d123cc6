import { textOf } from '../../shared/contracts/config/define-collection.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { badRequest } from '../api/api-error.ts';
import type { ApiError } from '../api/api-error.ts';
import { indexById, sameEntity } from '../draft/snapshot.ts';
import { sealerFor } from './destination-view.ts';
import { missingSettings } from './settings.ts';

/** Throws a 400 for destinations of `content` that lack required settings, unless `live` has the same destination. */
export function refuseIncomplete(content: Snapshot, live: Snapshot, accountId: string, secretBox: SecretBox): void {
  const known = indexById(live.destinations);
  for (const entity of content.destinations) {
    const before = known.get(entity.id);
    const kind = findDestinationKind(String(entity['type']));
    if (kind === undefined || (before !== undefined && sameEntity(before, entity))) continue;
    const settings = isJsonObject(entity['settings']) ? entity['settings'] : {};
    const missing = missingSettings(kind, settings, sealerFor(secretBox, accountId, entity.id));
    if (missing.length === 0) continue;
    const name = textOf(entity['name']) || kind.descriptor.label;
    throw badRequest(
      `destination ${name} (${entity.id}) cannot be published: ${named(missing)} required`,
      'set them, delete the destination, or exclude it with includeDestinations',
    );
  }
}

/** The error for a request that enables a destination which lacks these settings. */
export function lacksSettings(missing: readonly string[]): ApiError {
  return badRequest(
    `${named(missing)} required`,
    'without them the destination stays Disabled and cannot be published',
  );
}

const named = (keys: readonly string[]): string =>
  `${keys.map((key) => `settings.${key}`).join(', ')} ${keys.length === 1 ? 'is' : 'are'}`;
