import type { LiveCollections, LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { readPlanSettings } from '../../../shared/contracts/config/plan-settings.ts';
import { sourceTypes, visitorSourceTypes } from '../../../shared/collections/source-types.ts';
import { compileAllowedEvents } from '../../../shared/routing/allowed-events.ts';
import { limitsEvents } from '../../../shared/routing/dispatch-plan.ts';
import { compileTrackingPlan } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { TrackingPlan } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import { compileIdentityRules, defaultIdentityRules } from '../../../shared/visitors/identity-rules.ts';
import type { IdentityRules } from '../../../shared/visitors/identity-rules.ts';
import { createUserHashCheck } from './user-hash.ts';
import type { UserHashCheck } from './user-hash.ts';
import { noReads } from './visitor-reads.ts';
import type { VisitorReads } from './visitor-reads.ts';
import { SecretError, userHashSecretContext } from '../../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../../shared/contracts/config/secrets.ts';
import type { BotControl } from '../../../shared/admission/bot-score.ts';

export type SourceRules = {
  readonly botControl: BotControl;
  /** Whether the address and the User-Agent of the request must not be kept. */
  readonly excludeRequestContext: boolean;
  /** Whether the connection comes from the visitor, not from a server. */
  readonly isVisitorsConnection: boolean;
  /**
   * The rights of the source's key. Every visitor can read the key of a web, pixel, redirect or mobile source, and an
   * unknown source's key may be public: these keys count as public, unless the account gives them the rights of
   * servers.
   */
  readonly keyTrust: 'server' | 'public';
  /** For public sources: checks whether an identifier was signed with the source's secret. */
  readonly isSigned?: UserHashCheck;
};

/** The part of an account's live version that the resolver needs. */
export type ResolvePlan = {
  /** Undefined if the account's configuration is unknown. */
  readonly versionNumber: number | undefined;
  /** Undefined if the account has none. */
  readonly trackingPlan: TrackingPlan | undefined;
  /** Whether events of this name may go to destinations. */
  allows(eventName: string): boolean;
  sourceRules(sourceId: string): SourceRules;
  /** The account's identity settings, compiled. */
  readonly identity: IdentityRules;
  /** Whether the account has purposes that ask for consent. */
  readonly hasPurposes: boolean;
  /** Whether a purpose follows Global Privacy Control: then visitors keep the signal of their browser. */
  readonly keepsGpc: boolean;
  /** The visitor properties that the live version reads, which are never left out. Computed at the first call. */
  visitorReads(): VisitorReads;
};

/** Rules of an unknown source: its connection may come from a server, and its key may be public. */
const openSource: SourceRules = {
  botControl: { mode: 'Allow', threshold: undefined },
  excludeRequestContext: false,
  isVisitorsConnection: false,
  keyTrust: 'public',
};

/**
 * Rules of a source that cannot be read. Gateways accept no events for it any more; of events accepted earlier, nothing
 * is kept that the source may have excluded.
 */
const unreadableSource: SourceRules = { ...openSource, excludeRequestContext: true };

type ResolveConfig = Pick<
  LiveConfig,
  'accountId' | 'versionNumber' | 'unreadable' | 'identity' | 'planSettings' | 'sourceSecrets'
> & {
  readonly collections: Pick<
    LiveCollections,
    'sources' | 'allowedEvents' | 'consentSettings' | 'dataGovernanceRules' | 'dataGovernanceEvents'
  >;
};

/** The plan of an account without a known configuration: everything passes. */
export const openResolvePlan: ResolvePlan = {
  versionNumber: undefined,
  trackingPlan: undefined,
  allows: () => true,
  sourceRules: () => openSource,
  identity: defaultIdentityRules,
  hasPurposes: false,
  keepsGpc: false,
  visitorReads: () => noReads,
};

/** Compiles a published configuration for the resolver. */
export function compileResolvePlan(
  config: ResolveConfig,
  findReads: () => VisitorReads = () => noReads,
  secrets?: Pick<SecretBox, 'open'>,
): ResolvePlan {
  const { versionNumber, collections, unreadable } = config;
  const identity = compileIdentityRules(config.identity);
  const secretOf = secretsOf(config, secrets);
  const sources = new Map(
    collections.sources.map((entity) => [entity.id, rulesOf(entity, identity, () => secretOf(entity.id))]),
  );
  for (const { collection, id, isDefaulted } of unreadable) {
    if (collection === 'sources' && !isDefaulted) sources.set(id, unreadableSource);
  }
  const allows = compileAllowedEvents(collections.allowedEvents, limitsEvents(config));
  let reads: VisitorReads | undefined;
  return {
    versionNumber,
    trackingPlan: compileTrackingPlan({
      rules: collections.dataGovernanceRules,
      events: collections.dataGovernanceEvents,
      unreadable,
      settings: readPlanSettings(config.planSettings),
    }),
    allows,
    identity,
    keepsGpc: collections.consentSettings.some(
      ({ isEnabled, signals }) => isEnabled && (signals?.gpc ?? 'off') !== 'off',
    ),
    hasPurposes:
      collections.consentSettings.length > 0 || unreadable.some(({ collection }) => collection === 'consentSettings'),
    sourceRules: (sourceId) => sources.get(sourceId) ?? openSource,
    visitorReads: () => (reads ??= findReads()),
  };
}

function rulesOf(
  { type, botControlMode, botScoreThreshold, excludeRequestContext }: LiveCollections['sources'][number],
  { publicKeysOverwrite }: IdentityRules,
  secret: () => string | undefined,
): SourceRules {
  const isVisitorsConnection = visitorSourceTypes.has(type);
  const isPublic = isVisitorsConnection || !sourceTypes.includes(type);
  return {
    botControl: { mode: botControlMode ?? undefined, threshold: botScoreThreshold ?? undefined },
    excludeRequestContext: excludeRequestContext === true,
    isVisitorsConnection,
    ...(isPublic && !publicKeysOverwrite
      ? { keyTrust: 'public', isSigned: createUserHashCheck(secret) }
      : { keyTrust: 'server' }),
  };
}

/**
 * Makes a function that decrypts the secret of one of an account's sources; it returns undefined for a source without a
 * secret, or whose secret cannot be opened.
 */
function secretsOf(
  { accountId, sourceSecrets = [] }: Pick<ResolveConfig, 'accountId' | 'sourceSecrets'>,
  secrets: Pick<SecretBox, 'open'> | undefined,
): (sourceId: string) => string | undefined {
  const sealed = new Map(sourceSecrets.map((secret) => [secret.sourceId, secret.sealed]));
  return (sourceId) => {
    const text = sealed.get(sourceId);
    if (text === undefined || secrets === undefined) return undefined;
    try {
      return secrets.open(text, userHashSecretContext(accountId, sourceId));
    } catch (error) {
      // Sealed with another SECRETS_KEY, as a destination's secret may be. Hashes for this source then count as wrong.
      if (error instanceof SecretError) return undefined;
      throw error;
    }
  };
}
