import type { Pool } from 'pg';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { createEgressRules, readEgressRanges } from '../../shared/egress/egress-rules.ts';
import type { TokenSource } from '../../shared/egress/oauth/token-source.ts';
import { createDestinationSenders } from '../../shared/egress/protocols/destination-senders.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { readHistorySettings } from '../../shared/nats/streams/history-settings.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Services } from '../api/services.ts';
import { readErasureSettings } from './erasure-settings.ts';
import { createErasureService, erasures } from './erasure-service.ts';
import { startForwarding } from './forward-erasures.ts';
import type { ErasureForwarding } from './forward-erasures.ts';
import { repeatNotices } from './repeat-notices.ts';

type ErasureVariables = Parameters<typeof readEgressRanges>[0] &
  Parameters<typeof readErasureSettings>[0] &
  Parameters<typeof readHistorySettings>[0] &
  Parameters<typeof readTopologySettings>[0];

export type ErasureProviders = {
  readonly connection: LogConnection;
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  /** The token source that the pipeline uses too, because a refresh token may be valid for a single use. */
  readonly tokens: TokenSource;
  readonly logger: Logger;
  leading(): boolean;
  now(): Date;
};

export const erasureRequestTimeoutMs = 20_000;

export function provideErasures(
  env: ErasureVariables,
  { connection, pool, secretBox, tokens, logger, leading, now }: ErasureProviders,
  services: Services,
  scope: Scope,
): ErasureForwarding {
  const settings = readErasureSettings(env);
  const limits = { ...readHistorySettings(env), deadLetterMs: readTopologySettings(env).deadLetterAgeMs };
  services.provide(erasures, createErasureService({ connection, pool, secretBox, settings, limits, logger, now }));
  const repeating = repeatNotices({ pool, connection, logger, leading, now });
  scope.use('notices of erasures', repeating, (one) => one.stop());
  const egress = readEgressRanges(env);
  const rules = createEgressRules(egress.allowed, egress.denied);
  const senderLimits = {
    connectionsMax: 1,
    connectTimeoutMs: 3_000,
    headersTimeoutMs: erasureRequestTimeoutMs,
    totalTimeoutMs: erasureRequestTimeoutMs,
  };
  const forwarding = startForwarding({
    pool,
    secretBox,
    createSender: (accountId) => createDestinationSenders({ rules, limits: senderLimits, tokens }).create(accountId),
    deadlineMs: settings.deadlineMs,
    logger,
    now,
  });
  return scope.use('forwarding of erasures', forwarding, (one) => one.stop());
}
