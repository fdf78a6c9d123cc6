import type { AccountConfig, SnapshotEntity } from '../../../shared/contracts/config/account-config.ts';
import type { BotControl } from '../../../shared/admission/bot-score.ts';

export type SourceRules = {
  readonly botControl: BotControl;
  /** Neither address nor User-Agent of the request may be kept. */
  readonly excludeRequestContext: boolean;
};

/** What the resolver needs of an account's live version. */
export type ResolvePlan = {
  /** Undefined where no configuration is known. */
  readonly versionNumber: number | undefined;
  /** Whether an event of this name goes on to the destinations at all. */
  allows(eventName: string): boolean;
  sourceRules(sourceId: string): SourceRules;
};

const openSource: SourceRules = { botControl: { mode: 'Allow', threshold: undefined }, excludeRequestContext: false };

/** The plan of an account whose configuration is not known: everything passes. */
export const openResolvePlan: ResolvePlan = {
  versionNumber: undefined,
  allows: () => true,
  sourceRules: () => openSource,
};

/** Compiles a published configuration for the resolver. */
export function compileResolvePlan(config: AccountConfig): ResolvePlan {
  const sources = new Map(config.collections.sources.map((source) => [source.id, readSource(source)]));
  const names = new Set(config.collections.allowedEvents.flatMap(readName));
  // An account that published no allowed event lets every event through; the service's own begin with a dollar sign.
  const allows = (name: string): boolean => names.size === 0 || name.startsWith('$') || names.has(name.toLowerCase());
  return {
    versionNumber: config.versionNumber,
    allows,
    sourceRules: (sourceId) => sources.get(sourceId) ?? openSource,
  };
}

function readName(allowed: SnapshotEntity): string[] {
  return typeof allowed['name'] === 'string' ? [allowed['name'].toLowerCase()] : [];
}

function readSource({
  botControlMode: mode,
  botScoreThreshold: threshold,
  excludeRequestContext,
}: SnapshotEntity): SourceRules {
  return {
    botControl: {
      mode: typeof mode === 'string' ? mode : undefined,
      threshold: typeof threshold === 'number' ? threshold : undefined,
    },
    excludeRequestContext: excludeRequestContext === true,
  };
}
