import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { createEntity, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { sealerFor } from './destination-view.ts';
import { lacksSettings } from './incomplete.ts';
import { offeredKind } from './prepare-destination.ts';
import { mergeSettings, missingSettings } from './settings.ts';

type NewDestination = Partial<DestinationBody> & { readonly type: string };

/**
 * Adds a destination to the draft; its kind checks the settings. A destination that lacks required settings is
 * Disabled: it can be patched, but neither enabled nor published.
 */
export function createDestination(
  editing: Editing,
  secretBox: SecretBox,
  fields: NewDestination,
): Promise<ConfigEntityRow> {
  const kind = offeredKind(fields.type);
  return createEntity(editing, destinations, fields, (id, body) => {
    const sealer = sealerFor(secretBox, editing.principal.accountId, id);
    const settings = mergeSettings(kind, null, fields.settings ?? null, sealer);
    const missing = missingSettings(kind, settings ?? {}, sealer);
    if (missing.length > 0 && fields.status === 'Enabled') throw lacksSettings(missing);
    return { ...body, settings, ...(missing.length > 0 ? { status: 'Disabled' } : {}) };
  });
}

/** Changes only the given fields; settings are merged key by key. */
export function patchDestination(
  editing: Editing,
  secretBox: SecretBox,
  id: string,
  fields: JsonObject,
): Promise<ConfigEntityRow> {
  const { settings: sent, status, ...others } = fields;
  // A null status counts as absent: a destination always has a status.
  const given = status === null || status === undefined ? others : { ...others, status };
  return patchEntity(editing, destinations, id, given, (body, before) => {
    const { type, status: next, settings: stored } = body as DestinationBody;
    const isEnabledNow = next === 'Enabled' && before['status'] !== 'Enabled';
    if (sent === undefined && !isEnabledNow) return body;
    const kind = offeredKind(type);
    const sealer = sealerFor(secretBox, editing.principal.accountId, id);
    const settings = sent === undefined ? stored : mergeSettings(kind, stored, sent as JsonObject | null, sealer);
    const missing = missingSettings(kind, settings ?? {}, sealer);
    if (missing.length > 0 && next === 'Enabled') throw lacksSettings(missing);
    return { ...body, settings };
  });
}
