import { describe, expect, test } from 'vitest';
import { headOf } from '../../contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { compileConsent } from './compile-consent.ts';
import type { ConsentSetting, LastWord } from './compile-consent.ts';
import { unknownRegion } from './region.ts';
import type { Region } from './region.ts';

const setting = (own: Partial<ConsentSetting> = {}): ConsentSetting => ({
  name: 'Advertising',
  isEnabled: true,
  defaultState: 'Granted',
  regions: null,
  destinationIds: ['d'],
  signals: null,
  ...own,
});

type Said = {
  readonly own?: Readonly<Record<string, boolean>>;
  readonly visitor?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly last?: Readonly<Record<string, LastWord>>;
  readonly time?: number;
};

let unreadable = 0;

function judge(
  settings: readonly ConsentSetting[],
  said: Said = {},
  rule: 'all' | 'any' = 'all',
  allowsLimited = false,
) {
  const sample = sampleEvent();
  const event: ResolvedEvent = {
    v: 1,
    event: {
      ...sample.event,
      time: said.time ?? sample.event.time,
      ...(said.own === undefined ? {} : { consent: said.own }),
      context: said.context ?? {},
    },
    visitor: { id: 'v', custom_properties: {}, ...said.visitor },
  };
  unreadable = 0;
  const last = said.last === undefined ? undefined : new Map(Object.entries(said.last));
  const regionOf = (address: string): Region => {
    expect(address).toEqual(expect.any(String));
    return address === '203.0.113.7' ? { country: 'DE', state: '' } : unknownRegion;
  };
  const now = { lastWords: () => last, onUnreadable: () => (unreadable += 1), regionOf };
  return compileConsent(settings, 'd', rule, allowsLimited)?.(headOf(event), event, now);
}

/** The layer that decided about the only purpose, and its answer. */
function decided(own: Partial<ConsentSetting>, said: Said): string {
  const [answer] = judge([setting(own)], said)?.answers ?? [];
  return `${answer?.isGranted === true ? 'granted' : 'denied'} by ${answer?.layer}`;
}

describe('consent', () => {
  test('purposes: a destination without an enabled purpose needs no consent', () => {
    expect(judge([])).toBeUndefined();
    expect(judge([setting({ destinationIds: ['other'] }), setting({ isEnabled: false })])).toBeUndefined();
  });

  test.each<[string, Said, string]>([
    ['nothing is said', {}, 'granted by default'],
    [
      'the event grants, the visitor denied',
      { own: { advertising: true }, visitor: { consent: { advertising: false } } },
      'granted by event',
    ],
    [
      'the event denies, the visitor granted',
      { own: { advertising: false }, visitor: { consent: { advertising: true } } },
      'denied by event',
    ],
    ['the event says something of another purpose', { own: { analytics: false } }, 'granted by default'],
    ['the visitor denied in another case', { visitor: { consent: { ADVERTISING: false } } }, 'denied by visitor'],
    ['the visitor denied in a word', { visitor: { consent: { advertising: 'denied' } } }, 'denied by visitor'],
    [
      'the visitor denied in a list',
      { visitor: { consent: { rejected_categories: ['advertising'] } } },
      'denied by visitor',
    ],
    [
      'lists that contradict each other',
      { visitor: { consent: { accepted_categories: ['advertising'], rejected_categories: ['advertising'] } } },
      'denied by visitor',
    ],
    ['an empty consent', { visitor: { consent: {} } }, 'granted by default'],
    ['a consent that is null', { visitor: { consent: null } }, 'granted by default'],
    [
      'signals that the purpose does not list',
      { own: { $gpc: true }, context: { gpp: 'broken', tcf: 'broken', us_privacy: '1YYN' } },
      'granted by default',
    ],
  ])('layers: %s', (_what, said, expected) => {
    expect(decided({}, said)).toBe(expected);
  });

  test.each<[string, Record<string, boolean>, string]>([
    ['both allowed', { $segment: true, c1: true, c2: true }, 'granted by event'],
    ['one of them not named', { $segment: true, c1: true }, 'denied by event'],
    ['none of them named', { $segment: true }, 'denied by event'],
    ['one of them denied', { $segment: true, c1: true, c2: false }, 'denied by event'],
    ['consent of another sender', { c1: true, c2: true }, 'granted by default'],
  ])('segment: categories of a purpose, %s', (_what, own, expected) => {
    expect(decided({ signals: { segment: ['C1', 'C2'] } }, { own })).toBe(expected);
  });

  test('purposes: are asked in the order of their names, which are compared without case and surrounding spaces', () => {
    const three = ['b', 'c', 'a'].map((name) => setting({ name }));
    expect(judge(three)?.answers.map(({ purpose }) => purpose)).toEqual(['a', 'b', 'c']);
    expect(decided({ name: ' Advertising ' }, { own: { advertising: false } })).toBe('denied by event');
  });

  test('limited use: a destination that does not allow limited use is denied, and the answer names the first denial', () => {
    const settings = [setting({ signals: { gpc: 'always' } })];
    const { event, visitor } = sampleEvent({ consent: { $gpc: true, advertising: false } });
    const now = { lastWords: () => undefined, onUnreadable: () => undefined, regionOf: () => unknownRegion };
    const verdict = compileConsent(settings, 'd', 'all')?.(headOf({ v: 1, event, visitor }), { event, visitor }, now);
    expect(verdict).toMatchObject({ use: 'none', answers: [{ isGranted: false, layer: 'signal', detail: 'gpc' }] });
    const { event: optedOut } = sampleEvent({ consent: { $gpc: true } });
    const head = headOf({ v: 1, event: optedOut, visitor });
    expect(compileConsent(settings, 'd', 'all')?.(head, { event: optedOut, visitor }, now).use).toBe('none');
  });

  test('visitor: a consent without $gpc is no opt-out, and an unreadable consent is counted', () => {
    const gpcDenies = { signals: { gpc: 'deny' } };
    expect(decided(gpcDenies, { visitor: { consent: { other: true } } })).toBe('granted by default');
    expect(unreadable).toBe(0);
    judge([setting()], { visitor: { consent: 7 } });
    expect(unreadable).toBe(1);
  });

  test('withdrawal: withdrawing one category of a purpose denies the purpose', () => {
    const last = { c4: { isDenial: true, atMs: 9 } };
    expect(decided({ signals: { segment: ['C4'] } }, { last })).toBe('denied by withdrawal');
  });

  test('segment: a purpose without categories is looked up by its name', () => {
    expect(decided({}, { own: { $segment: true, advertising: false } })).toBe('denied by event');
    expect(decided({}, { own: { $segment: true, other: false } })).toBe('granted by default');
  });

  test.each<[string, Record<string, boolean>, string]>([
    ['denied', { $rudderstack: true, ads: false, more: true }, 'denied by event'],
    ['allowed', { $rudderstack: true, ads: true }, 'granted by event'],
    ['neither', { $rudderstack: true, other: true }, 'granted by default'],
  ])('rudderstack: ids of a purpose, %s', (_what, own, expected) => {
    expect(decided({ signals: { rudderstack: ['ads', 'more'] } }, { own })).toBe(expected);
  });

  test('rudderstack: a purpose without ids is looked up by its key, and so is every purpose for an event of another source', () => {
    const ids = { signals: { rudderstack: ['ads'] } };
    expect(decided({}, { own: { $rudderstack: true, advertising: false } })).toBe('denied by event');
    expect(decided(ids, { own: { advertising: false, ads: true } })).toBe('denied by event');
  });

  test('visitor: a denied category of a purpose denies the purpose', () => {
    const own = { signals: { segment: ['C4'] } };
    expect(decided(own, { visitor: { consent: { c4: false, advertising: true } } })).toBe('denied by visitor');
  });

  test.each<[string, Partial<ConsentSetting>, Said, string]>([
    ['GPC', { signals: { gpc: 'deny' } }, { own: { $gpc: true } }, 'denied by signal'],
    ['GPC of the page', { signals: { gpc: 'deny' } }, { context: { gpc: true } }, 'denied by signal'],
    [
      'GPC of an earlier event',
      { signals: { gpc: 'deny' } },
      { visitor: { consent: { $gpc: true } } },
      'denied by signal',
    ],
    [
      'GPC after a grant of the visitor',
      { signals: { gpc: 'deny' } },
      { own: { $gpc: true }, visitor: { consent: { advertising: true } } },
      'granted by visitor',
    ],
    ['GPC above all', { signals: { gpc: 'always' } }, { own: { $gpc: true, advertising: true } }, 'denied by signal'],
    ['GPC that is off', { signals: { gpc: 'off' } }, { own: { $gpc: true } }, 'granted by default'],
    [
      'OneTrust',
      { signals: { oneTrust: ['C0004'] } },
      { context: { optanon: 'groups=C0001:1,C0004:0' } },
      'denied by signal',
    ],
    [
      'OneTrust without the group',
      { signals: { oneTrust: ['C0004'] } },
      { context: { optanon: 'groups=C0001:1' } },
      'granted by default',
    ],
    [
      "OneTrust's active groups without the group",
      { signals: { oneTrust: ['C0004'] } },
      { context: { optanon: ',C0001,C0003,' } },
      'denied by signal',
    ],
    [
      "OneTrust's active groups",
      { signals: { oneTrust: ['C0001', 'C0003'] }, defaultState: 'Denied' },
      { context: { optanon: ',C0001,C0003,' } },
      'granted by signal',
    ],
    [
      'Cookiebot',
      { signals: { cookiebot: ['marketing'] }, defaultState: 'Denied' },
      { context: { cookieconsent: '{marketing:true}' } },
      'granted by signal',
    ],
    [
      'a US Privacy string',
      { signals: { gpp: ['saleOptOut'] } },
      { context: { us_privacy: '1YYN' } },
      'denied by signal',
    ],
    [
      'a US Privacy string for another opt-out',
      { signals: { gpp: ['sharingOptOut'] } },
      { context: { us_privacy: '1YYN' } },
      'granted by default',
    ],
    [
      'a GPP string',
      { signals: { gpp: ['saleOptOut'] } },
      { context: { gpp: 'DBABrw~CAAYAAAAAABA.YA~BAgAAABA.QA' } },
      'denied by signal',
    ],
    [
      'GPC in a GPP string',
      { signals: { gpc: 'deny' } },
      { context: { gpp: 'DBABrw~CAAYAAAAAABA.YA~BAgAAABA.QA' } },
      'denied by signal',
    ],
    [
      'GPC in a GPP string, above all',
      { signals: { gpc: 'always' } },
      { own: { advertising: true }, context: { gpp: 'DBABrw~CAAYAAAAAABA.YA~BAgAAABA.QA' } },
      'denied by signal',
    ],
    [
      'one signal that grants and one that denies',
      { signals: { cookiebot: ['marketing'], gpp: ['saleOptOut'] } },
      { context: { cookieconsent: '{marketing:true}', us_privacy: '1YYN' } },
      'denied by signal',
    ],
    [
      'a TC string where the GDPR does not apply',
      { signals: { tcf: { purposes: [1], onlyWhereGdprApplies: true } } },
      { context: { tcf: 'broken', gdpr_applies: false } },
      'granted by default',
    ],
  ])('signals: %s', (_what, own, said, expected) => {
    expect(decided(own, said)).toBe(expected);
    expect(unreadable).toBe(0);
  });

  const gpp = 'DBABrw~CAAYAAAAAABA.YA~BAgAAABA.QA';
  test.each<[string, Partial<ConsentSetting>, Said, string]>([
    ['GPC that always holds', { signals: { gpc: 'always' } }, { own: { $gpc: true } }, 'gpc'],
    ['GPC', { signals: { gpc: 'deny' } }, { own: { $gpc: true } }, 'gpc'],
    ['a GPP string', { signals: { gpp: ['saleOptOut'] } }, { context: { gpp } }, 'gpp'],
    ['a US Privacy string', { signals: { gpp: ['saleOptOut'] } }, { context: { us_privacy: '1YYN' } }, 'us_privacy'],
    [
      'an answer in a dialog before an opt-out',
      { signals: { gpc: 'deny', oneTrust: ['C4'], gpp: ['saleOptOut'] } },
      { own: { $gpc: true }, context: { optanon: 'groups=C4:0', us_privacy: '1YYN' } },
      'optanon',
    ],
    ['a broken string', { signals: { gpp: ['saleOptOut'] } }, { context: { gpp: 'no' } }, 'gpp, unreadable'],
    [
      'a default of a region',
      { defaultState: 'Denied', regions: ['US-CA'] },
      { visitor: { country: 'US', state: 'California' } },
      'US-CA',
    ],
    ['a default of an unknown region', { defaultState: 'Denied', regions: ['EU'] }, {}, 'unknown'],
    ['a default of an address', { defaultState: 'Denied', regions: ['EU'] }, { context: { ip: '203.0.113.7' } }, 'DE'],
  ])('detail: %s', (_what, own, said, detail) => {
    const verdict = judge([setting(own)], said);
    expect(verdict?.answers).toMatchObject([{ isGranted: false, detail }]);
  });

  const tcString = 'COvFyGBOvFyGBAbAAAENAPCAAOAAAAAAAAAAAEEUACCKAAA';
  test.each([
    [{ purposes: [1, 3] }, 'granted by signal'],
    [{ purposes: [1, 4] }, 'denied by signal'],
    [{ purposes: [1], vendors: [2, 8] }, 'granted by signal'],
    [{ purposes: [1], vendors: [3] }, 'denied by signal'],
    [{ purposes: [1], segment: 'publisher' }, 'denied by signal'],
  ])('signals: a TC string asked for %j: %s', (tcf, expected) => {
    expect(decided({ signals: { tcf }, defaultState: 'Denied' }, { context: { tcf: tcString } })).toBe(expected);
  });

  test.each<[string, NonNullable<ConsentSetting['signals']>, Record<string, unknown>]>([
    ['TCF', { tcf: { purposes: [1] } }, { tcf: tcString.slice(0, 20) }],
    ['TCF that is no text', { tcf: { purposes: [1] } }, { tcf: { deep: [] } }],
    ['GPP', { gpp: ['saleOptOut'] }, { gpp: 'DBABrw~' }],
    ['GPP, for GPC above all', { gpc: 'always' }, { gpp: 'DBABrw~' }],
    ['US Privacy', { gpp: ['saleOptOut'] }, { us_privacy: 'yes' }],
    ['OneTrust', { oneTrust: ['C4'] }, { optanon: 'groups=C4' }],
    ['Cookiebot', { cookiebot: ['marketing'] }, { cookieconsent: '{}' }],
    ['Didomi', { didomi: ['ads'] }, { didomi: '%%%' }],
  ])('signals: a broken string of %s is no consent, and is counted', (_what, signals, context) => {
    expect(decided({ signals }, { context })).toBe('denied by signal');
    expect(unreadable).toBe(1);
  });

  test.each<[readonly string[] | null, Record<string, unknown>, string]>([
    [null, { country: 'Germany' }, 'denied by default'],
    [['DE'], { country: 'Germany' }, 'denied by default'],
    [['DE'], { country: 'FR' }, 'granted by default'],
    [['EU'], { country: 'fra' }, 'denied by default'],
    [['EU'], { country: 'NO' }, 'granted by default'],
    [['EEA'], { country: 'NO' }, 'denied by default'],
    [['US-CA'], { country: 'US', state: 'California' }, 'denied by default'],
    [['US-CA'], { country: 'US', state: 'tx' }, 'granted by default'],
    [['US-CA'], { country: 'US' }, 'denied by default'],
    [['US'], { country: 'US', state: 'TX' }, 'denied by default'],
    [['XK'], { country: 'GB' }, 'granted by default'],
    [['DE'], {}, 'denied by default'],
    [['DE'], { country: 'nowhere' }, 'denied by default'],
    // Builds before regions applied accepted lists that cover no visitor.
    [[], { country: 'GB' }, 'denied by default'],
    [['UK'], { country: 'GB' }, 'denied by default'],
    [['DE', 'UK'], { country: 'GB' }, 'denied by default'],
  ])('regions: a purpose denied in %j, for a visitor in %j, is %s', (regions, visitor, expected) => {
    expect(decided({ defaultState: 'Denied', regions }, { visitor })).toBe(expected);
  });

  test.each([
    [['FR'], {}, '203.0.113.7', 'granted by default'],
    [['DE'], {}, '203.0.113.7', 'denied by default'],
    [['FR'], { country: 'FR' }, '203.0.113.7', 'denied by default'],
    [['FR'], {}, 'nonsense', 'denied by default'],
  ])('regions: a purpose denied in %j, for a visitor in %j at %s, is %s', (regions, visitor, ip, expected) => {
    expect(decided({ defaultState: 'Denied', regions }, { visitor, context: { ip } })).toBe(expected);
  });

  test.each([
    ['deny', {}, 'denied by signal'],
    ['deny', { visitor: { consent: { advertising: true } } }, 'granted by visitor'],
    ['always', { own: { advertising: true } }, 'denied by signal'],
    ['off', {}, 'granted by default'],
  ])('signals: GPC turned on while the event waited, for a purpose with GPC %s, with %j: %s', (gpc, said, expected) => {
    expect(decided({ signals: { gpc } }, { ...said, last: { $gpc: { isDenial: true, atMs: 9 } } })).toBe(expected);
  });

  const two = [setting({ name: 'b' }), setting({ name: 'a' })];
  test.each<['all' | 'any', Said, boolean]>([
    ['all', { own: { a: true, b: false } }, false],
    ['any', { own: { a: true, b: false } }, true],
    ['any', { own: { a: false, b: false } }, false],
    ['all', { own: { a: true, b: false, $rudderstack: true, $any: true } }, true],
  ])('rule: "%s" of two purposes must be granted, and %j is enough: %s', (rule, said, expected) => {
    expect(judge(two, said, rule)?.use).toBe(expected ? 'full' : 'none');
    expect(judge(two, said, rule)?.answers.map(({ purpose }) => purpose)).toEqual(['a', 'b']);
  });

  const optedOut = { own: { $gpc: true } };
  const gpc = { signals: { gpc: 'always' } };
  test.each<[string, Partial<ConsentSetting>, Said, 'full' | 'limited' | 'none', string | undefined]>([
    ['nothing denies', gpc, {}, 'full', undefined],
    ['GPC alone', gpc, optedOut, 'limited', 'gpc'],
    ['GPC of an earlier event', gpc, { visitor: { consent: { $gpc: true } } }, 'limited', 'gpc'],
    ['a GPP string', { signals: { gpp: ['saleOptOut'] } }, { context: { gpp } }, 'limited', 'gpp'],
    [
      'a US Privacy string',
      { signals: { gpp: ['saleOptOut'] } },
      { context: { us_privacy: '1YYN' } },
      'limited',
      'us_privacy',
    ],
    ['GPC, granted by the event', gpc, { own: { $gpc: true, advertising: true } }, 'limited', 'gpc'],
    ['GPC, denied by the event', gpc, { own: { $gpc: true, advertising: false } }, 'none', undefined],
    [
      'GPC, denied by the visitor',
      gpc,
      { ...optedOut, visitor: { consent: { advertising: false } } },
      'none',
      undefined,
    ],
    ['GPC, denied by default', { ...gpc, defaultState: 'Denied' }, optedOut, 'none', undefined],
    [
      'GPC, denied in a dialog',
      { signals: { gpc: 'deny', cookiebot: ['marketing'] } },
      { ...optedOut, context: { cookieconsent: '{marketing:false}' } },
      'none',
      'cookieconsent',
    ],
    ['GPC, refused since', gpc, { ...optedOut, last: { advertising: { isDenial: true, atMs: 1 } } }, 'none', undefined],
    ['a broken string', { signals: { gpp: ['saleOptOut'] } }, { context: { gpp: 'no' } }, 'none', 'gpp, unreadable'],
  ])('limited use: %s', (_what, own, said, use, detail) => {
    const verdict = judge([setting(own)], said, 'all', true);
    expect([verdict?.use, verdict?.answers[0]?.detail]).toEqual([use, detail]);
    expect(judge([setting(own)], said)?.use).toBe(use === 'full' ? 'full' : 'none');
  });

  test.each<['all' | 'any', Said, 'full' | 'limited' | 'none']>([
    ['all', { own: { $gpc: true, b: true } }, 'limited'],
    ['all', { own: { $gpc: true, b: false } }, 'none'],
    ['any', { own: { $gpc: true, b: false } }, 'limited'],
    ['any', { own: { $gpc: true, b: true } }, 'full'],
  ])('limited use: if "%s" of two purposes must be granted, %j allows the use "%s"', (rule, said, use) => {
    expect(judge([setting({ name: 'a', ...gpc }), setting({ name: 'b' })], said, rule, true)?.use).toBe(use);
  });

  const time = 1_000;
  const denial = (atMs: number) => ({ advertising: { isDenial: true, atMs } });
  test.each<[string, Said, string]>([
    ['a default', { last: denial(1) }, 'denied by withdrawal'],
    [
      'a grant of the visitor',
      { visitor: { consent: { advertising: true } }, last: denial(1) },
      'denied by withdrawal',
    ],
    ['an own grant from before', { own: { advertising: true }, time, last: denial(time) }, 'denied by withdrawal'],
    ['an own grant of after', { own: { advertising: true }, time, last: denial(time - 1) }, 'granted by event'],
    [
      'a denial, which no later grant revives',
      { own: { advertising: false }, last: { advertising: { isDenial: false, atMs: 9 } } },
      'denied by event',
    ],
    ['a default, and taken back', { last: { advertising: { isDenial: false, atMs: 9 } } }, 'granted by default'],
    [
      'Global Privacy Control, of a purpose that does not ask for it',
      { last: { $gpc: { isDenial: true, atMs: 9 } } },
      'granted by default',
    ],
    ['a default of another purpose', { last: { analytics: { isDenial: true, atMs: 9 } } }, 'granted by default'],
  ])('withdrawal: of %s', (_what, said, expected) => {
    expect(decided({}, said)).toBe(expected);
  });
});
