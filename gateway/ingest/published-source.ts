import type { SourceKey } from '../../shared/contracts/config/account-config.ts';
import { envelopePrefix } from '../../shared/contracts/events/envelope.ts';
import { partitionSeed } from '../../shared/contracts/events/partition.ts';
import type { AddressRanges } from '../../shared/admission/address-ranges.ts';
import { compileWhitelistIps } from '../../shared/admission/address-ranges.ts';
import { compileDomains } from '../../shared/admission/allowed-origins.ts';
import type { LiveCollections } from '../../shared/collections/live-config.ts';
import type { TokenBucket } from './token-bucket.ts';

/** What a source did, kept across revisions of its configuration. */
export type SourceActivity = {
  readonly sourceId: string;
  /** Time of the last request, in ms since the epoch; 0 before the first. */
  lastTriggeredAtMs: number;
};

/** Events of one type of source, counted as they are decided. */
export type EventTally = { stored: number; lost: number; invalid: number; limited: number };

/** A source key as requests meet it: everything that can be worked out before is. */
export type PublishedSource = {
  readonly accountId: string;
  readonly sourceId: string;
  readonly type: string;
  /** Events of a redirect or a webhook are named by it. */
  readonly name: string;
  readonly test: boolean;
  /** The fixed beginning of its envelopes. */
  readonly envelopePrefix: string;
  readonly partitionSeed: number;
  /** Undefined when requests from everywhere are taken. */
  readonly domains: readonly string[] | undefined;
  readonly addresses: AddressRanges | undefined;
  /** Neither address nor User-Agent of its requests is kept. */
  readonly excludesContext: boolean;
  /** Whether its events carry a bot score. */
  readonly scoresBots: boolean;
  readonly isWeb: boolean;
  readonly redirectUrl: string | undefined;
  readonly bucket: TokenBucket;
  readonly activity: SourceActivity;
  readonly tally: EventTally;
};

export type SourceState = Pick<PublishedSource, 'bucket' | 'activity' | 'tally'>;

/** Works out all that requests with this key need. */
export function compileSource(
  accountId: string,
  key: SourceKey,
  settings: LiveCollections['sources'][number],
  state: SourceState,
): PublishedSource {
  return {
    ...state,
    accountId,
    sourceId: settings.id,
    type: settings.type,
    name: settings.name || settings.type,
    test: key.test,
    envelopePrefix: envelopePrefix({ account: accountId, source: settings.id, test: key.test }),
    partitionSeed: partitionSeed(accountId),
    domains: compileDomains(settings.whitelistDomains),
    addresses: compileWhitelistIps(settings.whitelistIps),
    excludesContext: settings.excludeRequestContext === true,
    scoresBots: settings.botControlMode === 'Block' || settings.botControlMode === 'Threshold',
    isWeb: settings.type === 'WebSource',
    redirectUrl: settings.type === 'RedirectSource' ? readRedirectUrl(settings.redirectUrl) : undefined,
  };
}

/** Only web addresses are redirected to, in the form that is safe in a header. */
function readRedirectUrl(text: string | null): string | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}
