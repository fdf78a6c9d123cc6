import { consentMarks, hasGpcSignal, readConsentWords } from '../../contracts/events/consent-words.ts';
import type { ConsentWords } from '../../contracts/events/consent-words.ts';
import type { EventHead } from '../../contracts/events/resolved-event.ts';
import type { Subject } from '../values/property-path.ts';
import { answerBySignals, gppHasGpc, isOptOut } from './consent-signals.ts';
import type { SignalSettings } from './consent-signals.ts';
import type { ConsentLayer, PurposeAnswer } from './purpose-answer.ts';
import { isCovered, isRegion, regionCode, regionOf } from './region.ts';
import type { Region } from './region.ts';

/** A published purpose. */
export type ConsentSetting = {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly defaultState: string;
  readonly regions: readonly string[] | null;
  readonly destinationIds: readonly string[];
  readonly signals: SignalSettings | null;
};

/** A visitor's last decision on a purpose or category, and its time, in ms since the epoch. */
export type LastWord = { readonly isDenial: boolean; readonly atMs: number };

/** Last decisions by lower-case name. */
export type LastWords = { get(name: string): LastWord | undefined };

/** The facts about an event's consent that its line does not contain. */
export type ConsentNow = {
  /** The visitor's last decisions; undefined if the visitor has withdrawn nothing. */
  lastWords(head: EventHead): LastWords | undefined;
  /** Called if a consent in the event cannot be read. */
  onUnreadable(): void;
  /** The region of an address, as far as it is known. */
  regionOf(address: string): Region;
};

/** The permitted use of an event. `limited`: the only denials are signals by which the visitor opted out. */
export type ConsentVerdict = {
  readonly use: 'full' | 'limited' | 'none';
  /** The answer for each purpose of the destination, sorted by name. */
  readonly answers: readonly PurposeAnswer[];
};

export type JudgeConsent = (head: EventHead, subject: Subject, now: ConsentNow) => ConsentVerdict;

/** Maximum number of remembered consents; senders use few different consents. */
const rememberedMax = 1_000;
/** A longer consent is not remembered. */
const rememberedCharactersMax = 4_096;
const noWords: ConsentWords = {};

/**
 * Compiles the purposes that a destination serves; undefined if it serves no purpose, because its events then need no
 * consent. For each purpose the first layer with an answer decides: the event, its visitor, signals, and the purpose's
 * default, which grants outside of its regions. Within a layer a denial wins. A grant that was withdrawn since does not
 * count. `rule`: whether all purposes must be granted, or one suffices. `allowsLimited`: whether the destination
 * accepts events for limited use.
 */
export function compileConsent(
  settings: readonly ConsentSetting[],
  destinationId: string,
  rule: 'all' | 'any',
  allowsLimited = false,
): JudgeConsent | undefined {
  const served = settings.filter(({ destinationIds }) => destinationIds.includes(destinationId));
  const ask = compilePurposes(served);
  if (ask === undefined) return undefined;
  return (head, subject, now) => {
    const { answers, allowsAny } = ask(head, subject, now, allowsLimited);
    const isAny = rule === 'any' || allowsAny;
    const allow = (allows: (one: PurposeAnswer) => boolean): boolean =>
      isAny ? answers.some(allows) : answers.every(allows);
    if (allow((one) => one.isGranted)) return { use: 'full', answers };
    const isLimited = allowsLimited && allow((one) => one.isGranted || isOptOut(one));
    return { use: isLimited ? 'limited' : 'none', answers };
  };
}

type AskPurposes = (
  head: EventHead,
  subject: Subject,
  now: ConsentNow,
  asksWithoutOptOuts?: boolean,
) => {
  readonly answers: readonly PurposeAnswer[];
  /** The event states that one purpose suffices. */
  readonly allowsAny: boolean;
};

/** Compiles the enabled purposes, in the order of their names; undefined if there are none. */
export function compilePurposes(settings: readonly ConsentSetting[]): AskPurposes | undefined {
  const purposes = settings
    .filter(({ isEnabled }) => isEnabled)
    .map(compilePurpose)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (purposes.length === 0) return undefined;
  const readOwn = rememberedWords();
  return (head, subject, now, asksWithoutOptOuts = false) => {
    const own = head.consent === undefined ? noWords : readOwn(head.consent);
    const visitor = readConsentWords(subject.visitor['consent']);
    if (visitor.unreadable > 0) now.onUnreadable();
    const said: Said = { head, subject, own, visitor: visitor.words, lastWords: now.lastWords(head), now };
    const answers = purposes.map((purpose) => answer(purpose, said, asksWithoutOptOuts));
    return { answers, allowsAny: own[consentMarks.any] === true };
  };
}

type Said = {
  readonly head: EventHead;
  readonly subject: Subject;
  readonly own: ConsentWords;
  readonly visitor: ConsentWords;
  readonly lastWords: LastWords | undefined;
  readonly now: ConsentNow;
};

type Purpose = {
  readonly name: string;
  readonly key: string;
  readonly signals: SignalSettings;
  readonly segment: readonly string[];
  readonly rudderstack: readonly string[];
  /** Every name under which a visitor's consent may contain the purpose. */
  readonly names: readonly string[];
  readonly defaultsToGranted: boolean;
  /** Null: everywhere. */
  readonly regions: readonly string[] | null;
};

function compilePurpose({ name, defaultState, regions: listed, signals }: ConsentSetting): Purpose {
  const key = name.trim().toLowerCase();
  const ids = (list: readonly string[] | undefined): readonly string[] => (list ?? []).map((id) => id.toLowerCase());
  const [segment, rudderstack] = [ids(signals?.segment), ids(signals?.rudderstack)];
  const names = [...new Set([key, ...segment, ...rudderstack, ...ids(signals?.oneTrust)])];
  const defaultsToGranted = defaultState === 'Granted';
  // Earlier builds stored lists that cover no visitor, such as [] and ["UK"]: they count as every region.
  const isKnown = listed !== null && listed.length > 0 && listed.every(isRegion);
  const regions = isKnown ? listed : null;
  return { name, key, signals: signals ?? {}, segment, rudderstack, names, defaultsToGranted, regions };
}

/**
 * `asksWithoutOptOuts`: an opt-out signal is the answer only if everything else grants. Otherwise an opt-out could hide
 * a stricter denial, and the event would be sent because of the opt-out.
 */
function answer(purpose: Purpose, said: Said, asksWithoutOptOuts: boolean): PurposeAnswer {
  const given = answerThen(purpose, said, false);
  if (asksWithoutOptOuts && isOptOut(given)) {
    const otherwise = unlessWithdrawn(purpose, answerThen(purpose, said, true), said);
    return otherwise.isGranted ? given : otherwise;
  }
  return unlessWithdrawn(purpose, given, said);
}

function unlessWithdrawn(purpose: Purpose, given: PurposeAnswer, said: Said): PurposeAnswer {
  if (!given.isGranted || !isWithdrawn(purpose, given.layer, said)) return given;
  return { purpose: purpose.name, isGranted: false, layer: 'withdrawal' };
}

/** The answer before withdrawals are applied. */
function answerThen(purpose: Purpose, said: Said, ignoresOptOuts: boolean): PurposeAnswer {
  const { name, signals, names, regions, defaultsToGranted } = purpose;
  const { subject, own, visitor, now, lastWords } = said;
  const { context } = subject.event;
  const hasGpc =
    own[consentMarks.gpc] === true ||
    context['gpc'] === true ||
    hasGpcSignal(subject.visitor['consent']) ||
    // The visitor enabled Global Privacy Control while the event waited.
    lastWords?.get(consentMarks.gpc)?.isDenial === true;
  if (signals.gpc === 'always' && !ignoresOptOuts && (hasGpc || gppHasGpc(context))) {
    return { purpose: name, isGranted: false, layer: 'signal', detail: 'gpc' };
  }
  const byEvent = answerOfEvent(purpose, own);
  if (byEvent !== undefined) return { purpose: name, isGranted: byEvent, layer: 'event' };
  const byVisitor = wordOf(names, visitor);
  if (byVisitor !== undefined) return { purpose: name, isGranted: byVisitor, layer: 'visitor' };
  const bySignal = answerBySignals(signals, { context, hasGpc }, now, ignoresOptOuts);
  if (bySignal !== undefined) {
    return { purpose: name, isGranted: bySignal.isGranted, layer: 'signal', detail: bySignal.signal };
  }
  if (regions === null) return { purpose: name, isGranted: defaultsToGranted, layer: 'default' };
  const region = whereabouts(subject, now);
  const isGranted = !isCovered(regions, region) || defaultsToGranted;
  return { purpose: name, isGranted, layer: 'default', detail: regionCode(region) };
}

/**
 * The region in the visitor's properties; without it, the region of the event's IP address, which is never the address
 * of a calling server.
 */
function whereabouts({ visitor, event }: Subject, now: ConsentNow): Region {
  const said = regionOf(visitor);
  const address = event.context['ip'];
  return said.country === '' && typeof address === 'string' ? now.regionOf(address) : said;
}

function answerOfEvent({ key, segment, rudderstack }: Purpose, own: ConsentWords): boolean | undefined {
  if (own[consentMarks.segment] === true && segment.length > 0) return segment.every((id) => own[id] === true);
  const ids = own[consentMarks.rudderstack] === true && rudderstack.length > 0 ? rudderstack : [key];
  return wordOf(ids, own);
}

/** The decision on the names; if their decisions contradict, a denial wins. Undefined if no name has a decision. */
function wordOf(names: readonly string[], words: ConsentWords): boolean | undefined {
  let word: boolean | undefined;
  for (const name of names) {
    if (Object.hasOwn(words, name)) word = word !== false && words[name];
  }
  return word;
}

/**
 * Whether the visitor's last decision on a purpose is a denial later than the grant. A grant by the event is as old as
 * the event; any other grant counts as older than all decisions.
 */
function isWithdrawn({ names }: Purpose, layer: ConsentLayer, { head, subject, lastWords }: Said): boolean {
  if (lastWords === undefined) return false;
  const grantedAtMs = layer === 'event' ? Math.min(head.receivedAtMs, subject.event.time) : Number.NEGATIVE_INFINITY;
  return names.some((name) => {
    const word = lastWords.get(name);
    return word?.isDenial === true && word.atMs >= grantedAtMs;
  });
}

function rememberedWords(): (json: string) => ConsentWords {
  const known = new Map<string, ConsentWords>();
  return (json) => {
    if (json.length > rememberedCharactersMax) return JSON.parse(json) as ConsentWords;
    let words = known.get(json);
    if (words === undefined) {
      words = JSON.parse(json) as ConsentWords;
      if (known.size >= rememberedMax) known.clear();
      known.set(json, words);
    }
    return words;
  };
}
