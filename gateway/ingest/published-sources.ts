import type { SourceKey } from '../../shared/contracts/config/account-config.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { LiveCollections, LiveConfig } from '../../shared/collections/read-live-collections.ts';
import type { ConfigChange } from '../../shared/nats/buckets/config-feed.ts';
import type { Reply } from '../http/reply.ts';
import { PublishedTags } from './published-tags.ts';
import type { OpenSecret } from './source-secrets.ts';
import type { InvalidEvent } from '../../shared/contracts/source-activity.ts';
import { RateLimit } from '../../shared/limits/index.ts';
import { envelopePrefix } from '../../shared/contracts/events/envelope.ts';
import { partitionSeed } from '../../shared/contracts/events/partition.ts';
import type { AddressRanges } from '../../shared/admission/address-ranges.ts';
import { compileWhitelistIps } from '../../shared/admission/address-ranges.ts';
import { visitorSourceTypes } from '../../shared/collections/source-types.ts';
import type { TagCollections } from '../../shared/web-snippet/tags/compile-container.ts';
import { compileDomains } from '../../shared/admission/allowed-origins.ts';
import type { AllowedDomains } from '../../shared/admission/allowed-origins.ts';

export type SourceRates = { readonly eventsPerS: number; readonly bytesPerS: number; readonly burstS: number };

/** The collections that a gateway reads. */
export type GatewayCollection = 'sources' | 'consentSettings' | 'replaySettings' | keyof TagCollections;

/** Limits of the events and bytes that a source key may send per second. */
export type KeyLimits = { readonly events: RateLimit; readonly bytes: RateLimit };

const tokenCharactersMax = 250;
const unknownTokensMax = 10_000;

/**
 * The sources that accept events now, by key: the enabled sources of each account's published version. Keys are
 * published as hashes. Valid keys are cached in clear, so that a request costs one look-up.
 */
export class PublishedSources {
  readonly #limits: KeyLimits;
  readonly #openSecret: OpenSecret;
  readonly #byHash = new Map<string, PublishedSource>();
  readonly #bySourceId = new Map<string, PublishedSource>();
  readonly #hashesOfAccount = new Map<string, readonly string[]>();
  readonly #activities = new Map<string, SourceActivity>();
  /** Tallies of sources that were forgotten, by type. */
  readonly #forgotten = new Map<string, EventTally>();
  readonly #intakes = new Map<string, AccountIntake>();
  // Holds valid tokens only, so it never grows beyond the number of keys.
  readonly #byToken = new Map<string, PublishedSource>();
  readonly #unknownTokens = new Set<string>();

  constructor({ eventsPerS, bytesPerS, burstS }: SourceRates, openSecret: OpenSecret) {
    const limitOf = (perS: number): RateLimit => new RateLimit({ perS, burst: perS * burstS }, Date.now);
    this.#limits = { events: limitOf(eventsPerS), bytes: limitOf(bytesPerS) };
    this.#openSecret = openSecret;
  }

  get keyCount(): number {
    return this.#byHash.size;
  }

  /** Outcomes of events so far, by type of source, including sources that are no longer published. */
  get tallies(): ReadonlyMap<string, EventTally> {
    const byType = new Map([...this.#forgotten].map(([type, tally]) => [type, { ...tally }]));
    for (const activity of this.#activities.values()) addTallies(byType, activity);
    return byType;
  }

  /** Activities of all sources, including sources that are no longer published. */
  get activities(): Iterable<SourceActivity> {
    return this.#activities.values();
  }

  /** Forgets unpublished sources whose activity was reported; their events stay in the tallies. Returns their ids. */
  forgetUnpublished(isReported: (activity: SourceActivity) => boolean): readonly string[] {
    const published = new Set([...this.#byHash.values()].map(({ sourceId }) => sourceId));
    const gone = [...this.#activities.values()].filter((one) => !published.has(one.sourceId) && isReported(one));
    for (const activity of gone) {
      addTallies(this.#forgotten, activity);
      this.#activities.delete(activity.sourceId);
    }
    return gone.map(({ sourceId }) => sourceId);
  }

  /** The accounts that have a key. */
  get intakes(): Iterable<AccountIntake> {
    return this.#intakes.values();
  }

  /** The source of a token; undefined if it accepts no events. */
  byToken(token: string): PublishedSource | undefined {
    return this.#byToken.get(token) ?? this.#lookUp(token);
  }

  /** A source by its id, through its live key. */
  bySourceId(sourceId: string): PublishedSource | undefined {
    return this.#bySourceId.get(sourceId);
  }

  /** Applies an account's new configuration, from the next request on. */
  apply(change: Omit<ConfigChange<LiveConfig<GatewayCollection>>, 'bytes' | 'upTo'>): void {
    // Compiled before anything changes, so a document that cannot be read leaves the current configuration in force.
    const compiled = change.config === undefined ? [] : this.#compile(change.config);
    for (const hash of this.#hashesOfAccount.get(change.accountId) ?? []) this.#remove(hash);
    for (const [hash, source] of compiled) this.#add(hash, source);
    this.#forgetLimits(this.#hashesOfAccount.get(change.accountId) ?? []);
    if (compiled.length === 0) {
      this.#hashesOfAccount.delete(change.accountId);
      this.#intakes.delete(change.accountId);
    } else {
      this.#hashesOfAccount.set(
        change.accountId,
        compiled.map(([hash]) => hash),
      );
    }
    this.#byToken.clear();
    this.#unknownTokens.clear();
  }

  #compile(config: LiveConfig<GatewayCollection>): [hash: string, source: PublishedSource][] {
    const published = new Map(config.collections.sources.map((entity) => [entity.id, entity]));
    const consent = readConsentPurposes(config.collections.consentSettings);
    const recordings = readRecordings(config.collections.replaySettings);
    const tags = new PublishedTags(config.collections);
    const { accountId } = config;
    const intake = remember(this.#intakes, accountId, () => ({ accountId, refusal: undefined }));
    return config.sourceKeys.flatMap((key) => {
      // An unreadable source is left out, because the unreadable part may be a restriction.
      const settings = published.get(key.sourceId);
      if (settings?.status !== 'Enabled') return [];
      const activity = this.#activityOf(settings.id, settings.type);
      const state = {
        limits: this.#limits,
        activity,
        tally: key.test ? activity.testTally : activity.tally,
        consent,
        recording: recordings(settings),
        tags: tags.isOf(settings.id) ? tags : undefined,
        intake,
      };
      return [[key.keyHash, compileSource(config.accountId, key, settings, state, this.#openSecret)]];
    });
  }

  #add(hash: string, source: PublishedSource): void {
    this.#byHash.set(hash, source);
    if (!source.test) this.#bySourceId.set(source.sourceId, source);
  }

  #remove(hash: string): void {
    const source = this.#byHash.get(hash);
    this.#byHash.delete(hash);
    if (source !== undefined) this.#bySourceId.delete(source.sourceId);
  }

  #forgetLimits(hashes: readonly string[]): void {
    for (const hash of hashes) {
      if (this.#byHash.has(hash)) continue;
      this.#limits.events.forget(hash);
      this.#limits.bytes.forget(hash);
    }
  }

  #lookUp(token: string): PublishedSource | undefined {
    if (token.length > tokenCharactersMax || this.#unknownTokens.has(token)) return undefined;
    const source = this.#byHash.get(hashSourceKey(token));
    if (source !== undefined) {
      this.#byToken.set(token, source);
      return source;
    }
    if (this.#unknownTokens.size >= unknownTokensMax) this.#unknownTokens.clear();
    this.#unknownTokens.add(token);
    return undefined;
  }

  #activityOf(sourceId: string, type: string): SourceActivity {
    return remember(this.#activities, sourceId, () => ({
      sourceId,
      type,
      lastTriggeredAtMs: 0,
      tally: noEvents(),
      testTally: noEvents(),
    }));
  }
}

function addTallies(byType: Map<string, EventTally>, { type, tally, testTally }: SourceActivity): void {
  const sum = remember(byType, type, noEvents);
  for (const one of [tally, testTally]) for (const name of tallyNames) sum[name] += one[name];
}

function remember<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Activity of a source, kept across revisions of its configuration. */
export type SourceActivity = {
  readonly sourceId: string;
  readonly type: string;
  /** Time of the last request, in ms since the epoch; 0 before the first. */
  lastTriggeredAtMs: number;
  readonly tally: EventTally;
  /** Events of the source's test key. */
  readonly testTally: EventTally;
};

/** Limits of all sources of an account together. */
export type AccountIntake = {
  readonly accountId: string;
  /** The answer while the account's events wait too long, or use too much of the log. */
  refusal: Reply | undefined;
};

/** A consent purpose, and whether it is granted for a visitor who has not decided. */
export type ConsentPurpose = { readonly name: string; readonly granted: boolean };

/** The purposes of an account's live version. */
function readConsentPurposes(settings: LiveCollections['consentSettings']): readonly ConsentPurpose[] {
  return settings.flatMap(({ name, isEnabled, defaultState }) =>
    isEnabled ? [{ name, granted: defaultState === 'Granted' }] : [],
  );
}

/** Settings for libraries that record sessions. */
export type Recording = Pick<
  LiveCollections['replaySettings'][number],
  'sampleRate' | 'maskAllText' | 'maskAllInputs' | 'blockSelectors'
>;

/** The published recording of each source: for web sources only, unless the setting names the source. */
function readRecordings([setting]: LiveCollections['replaySettings']) {
  return ({ id, type }: { readonly id: string; readonly type: string }): Recording | undefined => {
    if (setting?.isEnabled !== true) return undefined;
    const isNamed = setting.sourceIds === null ? type === 'WebSource' : setting.sourceIds.includes(id);
    const { sampleRate, maskAllText, maskAllInputs, blockSelectors } = setting;
    return isNamed ? { sampleRate, maskAllText, maskAllInputs, blockSelectors } : undefined;
  };
}

/** Events of one source, counted as they are decided. */
export type EventTally = EventCounts & {
  /** The newest event that was not valid. */
  lastInvalid: InvalidEvent | undefined;
};

export type EventCounts = {
  stored: number;
  /** Not stored by the log. */
  lost: number;
  invalid: number;
  /** Over the rate limit. */
  limited: number;
  /** Events of the account wait for too long, or use too much of the log. */
  backpressure: number;
  /** From a page or an address that the source refuses, or without the signature that it requires. */
  forbidden: number;
};

export const noEvents = (): EventTally => ({
  stored: 0,
  lost: 0,
  invalid: 0,
  limited: 0,
  backpressure: 0,
  forbidden: 0,
  lastInvalid: undefined,
});
export const tallyNames = ['stored', 'lost', 'invalid', 'limited', 'backpressure', 'forbidden'] as const;

/** Counts events that are not valid. `problem` names a field and repeats no value. */
export function countInvalid(tally: EventTally, problem: string, events = 1): void {
  tally.invalid += events;
  tally.lastInvalid = { at: Date.now(), problem };
}

/** A source key with everything that can be computed before its requests. */
export type PublishedSource = {
  readonly accountId: string;
  readonly sourceId: string;
  readonly type: string;
  /** Default name of the events of a redirect or a webhook. */
  readonly name: string;
  readonly test: boolean;
  /** The fixed beginning of the source's envelopes. */
  readonly envelopePrefix: string;
  readonly partitionSeed: number;
  /** Undefined: requests from every page are accepted. */
  readonly domains: AllowedDomains | undefined;
  readonly addresses: AddressRanges | undefined;
  /** Neither the address nor the User-Agent of requests is kept. */
  readonly excludesContext: boolean;
  /** Whether events get a bot score. */
  readonly scoresBots: boolean;
  /** Whether clients are the visitors themselves. */
  readonly isFromVisitors: boolean;
  readonly redirectUrl: string | undefined;
  /** How a sender is authenticated in addition to the key. */
  readonly signing: Signing;
  /** The purposes for which pages ask their visitors' consent. */
  readonly consent: readonly ConsentPurpose[];
  /** Undefined: sessions are not recorded. */
  readonly recording: Recording | undefined;
  /** The tags of the source's pages; undefined if none are published. */
  readonly tags: PublishedTags | undefined;
  /** The key by which rate limits are counted. */
  readonly keyHash: string;
  readonly limits: KeyLimits;
  readonly intake: AccountIntake;
  readonly activity: SourceActivity;
  readonly tally: EventTally;
};

/** `sealed`: this gateway cannot open the secret, so no sender can be authenticated. */
type Signing =
  | { readonly kind: 'none' }
  | { readonly kind: 'sealed' }
  | { readonly kind: 'secret'; readonly secret: string };

const unsigned: Signing = { kind: 'none' };

type SourceState = Pick<PublishedSource, 'limits' | 'intake' | 'activity' | 'tally' | 'consent' | 'recording' | 'tags'>;

/** Computes everything that requests with this key need. */
function compileSource(
  accountId: string,
  key: SourceKey,
  settings: LiveCollections['sources'][number],
  state: SourceState,
  openSecret: OpenSecret,
): PublishedSource {
  // Every field is listed, because an object that starts with a spread took 80 us and twice the memory.
  return {
    keyHash: key.keyHash,
    limits: state.limits,
    intake: state.intake,
    activity: state.activity,
    tally: state.tally,
    consent: state.consent,
    recording: state.recording,
    tags: state.tags,
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
    isFromVisitors: visitorSourceTypes.has(settings.type),
    redirectUrl: settings.type === 'RedirectSource' ? readRedirectUrl(settings.redirectUrl) : undefined,
    signing: readSigning(accountId, settings, openSecret),
  };
}

function readSigning(
  accountId: string,
  { id, signingSecret }: LiveCollections['sources'][number],
  openSecret: OpenSecret,
): Signing {
  if (signingSecret === null || signingSecret === undefined) return unsigned;
  const secret = openSecret(signingSecret, accountId, id);
  return secret === undefined ? { kind: 'sealed' } : { kind: 'secret', secret };
}

/** The URL in a form that is safe in a header; undefined if it is not an http or https address. */
function readRedirectUrl(text: string | null): string | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}
