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
  /** Neither address nor User-Agent of the request may be kept. */
  readonly excludeRequestContext: boolean;
  /** The visitor is at the other end of the connection, not a server. */
  readonly isVisitorsConnection: boolean;
  /**
   * What its key may do. Every visitor can read that of a web, pixel, redirect or mobile source, and who had the key of a source
   * that is not known is not known: these are public, unless the account allows them what servers may.
   */
  readonly keyTrust: 'server' | 'public';
  /** Of a public source: whether an identifier was signed by who has the secret of the source. */
  readonly isSigned?: UserHashCheck;
};

/** What the resolver needs of an account's live version. */
export type ResolvePlan = {
  /** Undefined where no configuration is known. */
  readonly versionNumber: number | undefined;
  /** Undefined where the account has none. */
  readonly trackingPlan: TrackingPlan | undefined;
  /** Whether an event of this name goes on to the destinations at all. */
  allows(eventName: string): boolean;
  sourceRules(sourceId: string): SourceRules;
  /** The account's identity settings, compiled. */
  readonly identity: IdentityRules;
  /** Whether the account has purposes, which consent is asked for. */
  readonly hasPurposes: boolean;
  /** Whether one of them asks for Global Privacy Control: then visitors keep that their browser has it on. */
  readonly keepsGpc: boolean;
  /** What of visitors is read by the version, so that it is never cut off one. Found when it is first asked for. */
  visitorReads(): VisitorReads;
};

/** Whose connection it was is unknown where the source is, and so is who had its key. */
const openSource: SourceRules = {
  botControl: { mode: 'Allow', threshold: undefined },
  excludeRequestContext: false,
  isVisitorsConnection: false,
  keyTrust: 'public',
};

/** Gateways take nothing for it any more; of what they took before, nothing is kept that it may have excluded. */
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

/** The plan of an account whose configuration is not known: everything passes. */
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

/** The secrets of an account's sources, in the clear; undefined where a source has none, or one that cannot be opened. */
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
      // As for a destination's: of another SECRETS_KEY. Its hashes are counted as wrong.
      if (error instanceof SecretError) return undefined;
      throw error;
    }
  };
}
