import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities/config-entity.ts';
import { settingContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { replySchema } from '../collections/entity-schemas.ts';
import { viewEntity } from '../collections/entity-view.ts';
import { maskSettings } from '../draft/mask-settings.ts';
import type { SettingSealer } from './settings.ts';

/** A destination as it is answered. */
export const destinationReply = replySchema(destinations);

/** A destination as a client may read it: secrets are masked. */
export function viewDestination(row: ConfigEntityRow): JsonObject {
  const { settings } = row.body as DestinationBody;
  return { ...viewEntity(destinations, row), settings: maskSettings(settings) };
}

/** Binds the secrets of a destination to it. */
export function sealerFor(secretBox: SecretBox, accountId: string, destinationId: string): SettingSealer {
  const context = (key: string): string => settingContext(accountId, destinationId, key);
  return {
    seal: (key, plain) => secretBox.seal(plain, context(key)),
    open: (key, sealed) => secretBox.open(sealed, context(key)),
  };
}
