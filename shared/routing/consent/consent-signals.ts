import type { Categories } from './consent-cookies.ts';
import { readCookiebot, readDidomi, readOneTrust } from './consent-cookies.ts';
import { isUsPrivacyOptOut, readGppString, readSectionIds } from './gpp-string.ts';
import type { GppAnswers } from './gpp-string.ts';
import type { PurposeAnswer } from './purpose-answer.ts';
import { readTcString } from './tc-string.ts';
import type { TcConsent } from './tc-string.ts';

/** The signals of a published purpose. Signals without a setting are not read. */
export type SignalSettings = {
  readonly segment?: readonly string[] | undefined;
  readonly rudderstack?: readonly string[] | undefined;
  readonly oneTrust?: readonly string[] | undefined;
  readonly cookiebot?: readonly string[] | undefined;
  readonly didomi?: readonly string[] | undefined;
  readonly tcf?: TcfSettings | undefined;
  /** Words of `gppOptOuts`. */
  readonly gpp?: readonly string[] | undefined;
  readonly gpc?: string | undefined;
  /**
   * Words of `googleConsentTypes`. They are not signals, but the types under which the purpose's answer is passed on.
   */
  readonly googleConsentMode?: readonly string[] | undefined;
};

type TcfSettings = {
  readonly purposes: readonly number[];
  readonly vendors?: readonly number[] | undefined;
  readonly onlyWhereGdprApplies?: boolean | undefined;
  readonly segment?: string | undefined;
};

/** Signals by which a browser or device opts out. The others are a visitor's answers in a dialog. */
const optOutSignals: ReadonlySet<string> = new Set(['gpc', 'gpp', 'us_privacy']);

const isOptOutSignal = (signal: string): boolean => optOutSignals.has(signal);

/** Whether the answer is a denial by an opt-out signal. */
export function isOptOut({ isGranted, layer, detail }: PurposeAnswer): boolean {
  return !isGranted && layer === 'signal' && detail !== undefined && isOptOutSignal(detail);
}

/** The answer of signals, and the deciding signal: `gpc`, or the name of the context property that contains it. */
export type SignalAnswer = { readonly isGranted: boolean; readonly signal: string };

/** The signals of an event: its context, and whether its visitor has Global Privacy Control on. */
export type CarriedSignals = {
  readonly context: Readonly<Record<string, unknown>>;
  readonly hasGpc: boolean;
};

/**
 * The answer of an event's signals for a purpose; undefined if the event has none of the listed signals. A denial wins;
 * if several signals deny, a denial that is not an opt-out wins. An unreadable signal is a denial, and is reported.
 * `ignoresOptOuts`: opt-outs do not count.
 */
export function answerBySignals(
  signals: SignalSettings,
  { context, hasGpc }: CarriedSignals,
  { onUnreadable }: { onUnreadable(): void },
  ignoresOptOuts = false,
): SignalAnswer | undefined {
  const { oneTrust, cookiebot, didomi, tcf, gpp, gpc } = signals;
  let answer: SignalAnswer | undefined;
  const take = (isGranted: boolean | undefined, signal: string): void => {
    if (isGranted === undefined || (ignoresOptOuts && isOptOutSignal(signal))) return;
    const decides = answer === undefined || (isGranted ? false : answer.isGranted || isOptOutSignal(answer.signal));
    if (decides) answer = { isGranted, signal };
  };
  const ask = <Read>(read: (value: unknown) => Read, key: string, say: (of: Read) => boolean | undefined, as = key) => {
    const value = context[key];
    if (value === undefined || value === null || value === '') return;
    try {
      take(say(read(value)), as);
    } catch {
      // The libraries throw various errors for unreadable strings.
      onUnreadable();
      take(false, `${key}, unreadable`);
    }
  };
  if (gpc === 'deny' && hasGpc) take(false, 'gpc');
  if (oneTrust !== undefined) ask(readOneTrust, 'optanon', (groups) => wordOf(oneTrust, groups));
  if (cookiebot !== undefined) ask(readCookiebot, 'cookieconsent', (groups) => wordOf(cookiebot, groups));
  if (didomi !== undefined) ask(readDidomi, 'didomi', (groups) => wordOf(didomi, groups));
  if (tcf !== undefined && (tcf.onlyWhereGdprApplies !== true || !notApplicable.has(context['gdpr_applies']))) {
    ask(tcStrings.read, 'tcf', (consent) => allows(tcf, consent));
  }
  const readsGpc = gpc === 'deny' || gpc === 'always';
  if (gpp === undefined && !readsGpc && tcf === undefined) return answer;
  const inGpp = readGpp(context['gpp_sid']);
  ask(inGpp, 'gpp', ({ optOuts, gpc: gppGpc }) => {
    const isOptedOut = gpp?.some((optOut) => (optOuts as ReadonlySet<string>).has(optOut)) === true;
    return isOptedOut || (readsGpc && gppGpc) ? false : undefined;
  });
  if (tcf !== undefined) {
    const readTcf = (value: unknown): TcConsent | undefined => {
      const { tcString } = inGpp(value);
      return tcString === undefined ? undefined : tcStrings.read(tcString);
    };
    ask(readTcf, 'gpp', (consent) => (consent === undefined ? undefined : allows(tcf, consent)), 'tcf');
  }
  if (gpp !== undefined) {
    ask(usPrivacy, 'us_privacy', (isOptOut) => (isOptOut && gpp.includes('saleOptOut') ? false : undefined));
  }
  return answer;
}

/** Whether the event's GPP string has Global Privacy Control. `answerBySignals` reports an unreadable string. */
export function gppHasGpc(context: Readonly<Record<string, unknown>>): boolean {
  const text = context['gpp'];
  if (typeof text !== 'string' || text === '') return false;
  try {
    return readGpp(context['gpp_sid'])(text).gpc;
  } catch {
    return false;
  }
}

const notApplicable: ReadonlySet<unknown> = new Set([false, 0, '0', 'false']);

function allows({ purposes, vendors = [], segment }: TcfSettings, consent: TcConsent): boolean {
  const given = segment === 'publisher' ? consent.publisherPurposes : consent.purposes;
  return purposes.every((id) => given?.has(id) === true) && vendors.every((id) => consent.vendors.has(id));
}

/** Whether all listed categories are allowed; undefined if the platform lists none of the names. */
function wordOf(names: readonly string[], categories: Categories): boolean | undefined {
  const words = names.map(categories).filter((word) => word !== undefined);
  return words.length === 0 ? undefined : words.every(Boolean);
}

const usPrivacy = (value: unknown): boolean => isUsPrivacyOptOut(textOf(value));

const readGpp =
  (sectionIds: unknown) =>
  (value: unknown): GppAnswers => {
    const applicable = readSectionIds(sectionIds);
    return gppStrings.read(`${[...applicable].join('_')} ${textOf(value)}`);
  };

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new RangeError('not a text');
  return value;
}

/**
 * Maximum number of remembered strings. Visitors of a page have few different strings; reading one takes up to 0.5 ms.
 */
const rememberedMax = 1_000;

/** Reads texts, and remembers the last results. */
function remember<Read>(readText: (text: string) => Read): { read(text: unknown): Read } {
  const known = new Map<string, Read>();
  return {
    read(value) {
      const text = textOf(value);
      const before = known.get(text);
      if (before !== undefined) return before;
      const read = readText(text);
      if (known.size >= rememberedMax) known.clear();
      known.set(text, read);
      return read;
    },
  };
}

const tcStrings = remember(readTcString);
const gppStrings = remember((text) => {
  const space = text.indexOf(' ');
  return readGppString(text.slice(space + 1), readSectionIds(text.slice(0, space)));
});
