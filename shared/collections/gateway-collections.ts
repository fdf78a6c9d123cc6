import type { AccountConfig } from '../contracts/config/account-config.ts';
import { encodeGatewayConfig } from '../contracts/config/gateway-config.ts';
import { consentSettings } from './consent-settings.ts';
import { replaySettings } from './replay-settings.ts';
import { sources } from './sources.ts';
import { tagManagerTags, tagManagerTriggers, tagManagerVariables, tagManagers } from './tag-managers.ts';

/** The collections that gateways load. None of them contains destinations. */
export const gatewayCollections = [
  sources,
  consentSettings,
  replaySettings,
  tagManagers,
  tagManagerTags,
  tagManagerTriggers,
  tagManagerVariables,
] as const;

/** The part of an account's configuration that gateways load. `revision` is that of the whole in CONFIG. */
export function gatewayConfigOf(config: AccountConfig, revision: number): Uint8Array {
  const collections = Object.fromEntries(
    gatewayCollections.map(({ name }) => [name, config.collections[name] ?? []] as const),
  );
  return encodeGatewayConfig({ ...config, collections }, revision);
}
