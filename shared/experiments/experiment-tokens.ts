import { compileWhitelistIps } from '../admission/address-ranges.ts';
import type { AddressRanges } from '../admission/address-ranges.ts';
import { compileDomains } from '../admission/allowed-origins.ts';
import type { AllowedDomains } from '../admission/allowed-origins.ts';
import type { AccountConfig } from '../contracts/config/account-config.ts';
import { hashSourceKey } from '../contracts/config/account-config.ts';
import type { ExperimentSettingsBody } from './experiment-bodies.ts';

/** The kind and the restrictions of a token. */
export type ExperimentToken = {
  /** Allowed page domains; undefined means all. */
  readonly domains: AllowedDomains | undefined;
  /** Allowed IP addresses; undefined means all. */
  readonly addresses: AddressRanges | undefined;
} & (
  | { readonly kind: 'experiments' }
  | {
      readonly kind: 'source';
      readonly sourceId: string;
      /** Whether the key is for test mode: its events are shown in recent events and never dispatched. */
      readonly test: boolean;
    }
);

/** An account's tokens by their hash, see hashSourceKey. */
export type ExperimentTokens = ReadonlyMap<string, ExperimentToken>;

type Source = {
  readonly id: string;
  readonly status: string;
  readonly whitelistDomains: readonly string[] | null;
  readonly whitelistIps: readonly string[] | null;
};

/** The source keys of an account and its live version. If a source cannot be read, its keys allow no request. */
export type TokensConfig = Pick<AccountConfig, 'sourceKeys'> & {
  readonly collections: {
    readonly sources: readonly Source[];
    readonly experimentSettings: readonly ExperimentSettingsBody[];
  };
};

/** The tokens that a published version accepts for experiments: its settings' token, and keys of enabled sources. */
export function planTokens({ collections, sourceKeys }: TokensConfig): ExperimentTokens {
  const sources = new Map(collections.sources.map((source) => [source.id, source]));
  const tokens = new Map<string, ExperimentToken>();
  for (const { keyHash, sourceId, test } of sourceKeys) {
    const source = sources.get(sourceId);
    if (source?.status !== 'Enabled') continue;
    const domains = compileDomains(source.whitelistDomains);
    const addresses = compileWhitelistIps(source.whitelistIps);
    tokens.set(keyHash, { kind: 'source', sourceId, test, domains, addresses });
  }
  for (const settings of collections.experimentSettings) {
    tokens.set(hashSourceKey(settings.token), {
      kind: 'experiments',
      domains: compileDomains(settings.whitelistDomains),
      addresses: undefined,
    });
  }
  return tokens;
}
