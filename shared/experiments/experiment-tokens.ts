import { Compile } from 'typebox/compile';
import type { AccountConfig } from '../config/account-config.ts';
import { hashSourceKey } from '../config/source-key.ts';
import { experimentSettingsBody, experimentSettingsDefaults } from './experiment-bodies.ts';

/** What a token of an account stands for. */
export type ExperimentToken =
  | {
      readonly kind: 'experiments';
      /** Domains whose pages may ask; undefined means all. */
      readonly whitelistDomains: readonly string[] | undefined;
    }
  | {
      readonly kind: 'source';
      readonly sourceId: string;
      /** A test-mode key: what it records is seen in recent events and never dispatched. */
      readonly test: boolean;
    };

/** An account's tokens by their hash, see hashSourceKey. */
export type ExperimentTokens = ReadonlyMap<string, ExperimentToken>;

const settingsSchema = Compile(experimentSettingsBody);

/** The tokens that a published version takes for experiments: its own, and the keys of sources that are enabled. */
export function planTokens({ collections, sourceKeys }: AccountConfig): ExperimentTokens {
  const enabled = new Set(collections.sources.filter(({ status }) => status === 'Enabled').map(({ id }) => id));
  const tokens = new Map<string, ExperimentToken>();
  for (const { keyHash, sourceId, test } of sourceKeys) {
    if (enabled.has(sourceId)) tokens.set(keyHash, { kind: 'source', sourceId, test });
  }
  for (const entity of collections.experimentSettings) {
    const settings: unknown = { ...experimentSettingsDefaults, ...entity };
    if (!settingsSchema.Check(settings)) continue;
    tokens.set(hashSourceKey(settings.token), {
      kind: 'experiments',
      whitelistDomains: settings.whitelistDomains ?? undefined,
    });
  }
  return tokens;
}
