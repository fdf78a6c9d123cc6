import { GppModel } from '@iabgpp/cmpapi';
import { expect, test } from 'vitest';
import { answerBySignals, gppHasGpc, isOptOut } from './consent-signals.ts';
import type { SignalSettings } from './consent-signals.ts';

let unreadable = 0;

function ask(
  signals: SignalSettings,
  context: Readonly<Record<string, unknown>>,
  { hasGpc = false, ignoresOptOuts = false } = {},
): unknown {
  unreadable = 0;
  return answerBySignals(signals, { context, hasGpc }, { onUnreadable: () => (unreadable += 1) }, ignoresOptOuts);
}

const granted = (signal: string) => ({ isGranted: true, signal });
const denied = (signal: string) => ({ isGranted: false, signal });

/** A string of the Global Privacy Platform. */
function gppOf(sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string {
  const model = new GppModel();
  for (const [section, fields] of Object.entries(sections))
    for (const [field, value] of Object.entries(fields)) model.setFieldValue(section, field, value);
  return model.encode();
}

const purposes = (...ids: readonly number[]): boolean[] => Array.from({ length: 24 }, (_, n) => ids.includes(n + 1));
const european = { tcfeuv2: { PurposeConsents: purposes(1, 3), VendorConsents: [2], PublisherConsents: purposes(4) } };
const tcf = gppOf(european).split('~')[1] ?? '';

test('consent signals: a TC string counts by itself and within a GPP string, and a denial of either wins', () => {
  const one = { tcf: { purposes: [1] } };
  expect(ask(one, { tcf })).toEqual(granted('tcf'));
  expect(ask(one, { gpp: gppOf(european) })).toEqual(granted('tcf'));
  expect(ask({ tcf: { purposes: [2] } }, { gpp: gppOf(european) })).toEqual(denied('tcf'));
  const refusing = gppOf({ tcfeuv2: { PurposeConsents: purposes() } });
  expect(ask(one, { tcf, gpp: refusing })).toEqual(denied('tcf'));
  expect(ask(one, { gpp: gppOf({ usnat: { SaleOptOut: 1 } }) })).toBeUndefined();
  expect(unreadable).toBe(0);
});

test.each<[NonNullable<SignalSettings['tcf']>, boolean]>([
  [{ purposes: [1, 3] }, true],
  [{ purposes: [] }, true],
  [{ purposes: [1, 2] }, false],
  [{ purposes: [1], vendors: [2] }, true],
  [{ purposes: [1], vendors: [2, 3] }, false],
  [{ purposes: [4], segment: 'publisher' }, true],
  [{ purposes: [1], segment: 'publisher' }, false],
  [{ purposes: [4], segment: 'core' }, false],
])('consent signals: a TC string asked for %j grants: %s', (settings, isGranted) => {
  expect(ask({ tcf: settings }, { tcf })).toEqual({ isGranted, signal: 'tcf' });
});

test.each([
  [true, true],
  [1, true],
  ['1', true],
  [undefined, true],
  [false, false],
  [0, false],
  ['0', false],
  ['false', false],
])(
  'consent signals: if gdpr_applies is %j, a purpose with onlyWhereGdprApplies reads the TC string: %s',
  (applies, isRead) => {
    const settings = { tcf: { purposes: [1], onlyWhereGdprApplies: true } };
    expect(ask(settings, { tcf, gdpr_applies: applies })).toEqual(isRead ? granted('tcf') : undefined);
    expect(ask({ tcf: { purposes: [1] } }, { tcf, gdpr_applies: applies })).toEqual(granted('tcf'));
  },
);

test('consent signals: a missing or empty signal gives no answer, and is not counted as unreadable', () => {
  const all = {
    oneTrust: ['c1'],
    cookiebot: ['marketing'],
    didomi: ['ads'],
    tcf: { purposes: [1] },
    gpp: ['saleOptOut'],
  };
  for (const value of [undefined, null, '']) {
    const context = { optanon: value, cookieconsent: value, didomi: value, tcf: value, gpp: value, us_privacy: value };
    expect([ask(all, context), unreadable]).toEqual([undefined, 0]);
  }
});

test('consent signals: a signal that is not listed is not read', () => {
  const context = { optanon: '?', cookieconsent: '?', didomi: '?', tcf: '?', gpp: '?', us_privacy: '?' };
  expect([ask({}, context, { hasGpc: true }), unreadable]).toEqual([undefined, 0]);
  expect([ask({ gpc: 'off' }, context, { hasGpc: true }), unreadable]).toEqual([undefined, 0]);
});

test('consent signals: a denial that is not an opt-out decides before opt-outs, and among opt-outs the last one read decides', () => {
  const gpp = gppOf({ usnat: { SaleOptOut: 1 } });
  const signals = { gpc: 'deny', gpp: ['saleOptOut'], cookiebot: ['marketing'] };
  expect(ask(signals, {}, { hasGpc: true })).toEqual(denied('gpc'));
  expect(ask(signals, { gpp }, { hasGpc: true })).toEqual(denied('gpp'));
  expect(ask(signals, { gpp, us_privacy: '1YYN' })).toEqual(denied('us_privacy'));
  expect(ask(signals, { gpp, cookieconsent: '{marketing:true}' })).toEqual(denied('gpp'));
  expect(ask(signals, { cookieconsent: '{marketing:false}' }, { hasGpc: true })).toEqual(denied('cookieconsent'));
  expect(ask({ ...signals, oneTrust: ['c1'] }, { optanon: 'groups=C1:0', cookieconsent: '{marketing:false}' })).toEqual(
    denied('optanon'),
  );
  expect(ask({ ...signals, oneTrust: ['c1'] }, { optanon: 'groups=C1:0', cookieconsent: '{marketing:true}' })).toEqual(
    denied('optanon'),
  );
});

test('consent signals: if opt-outs are ignored, only the other signals are read', () => {
  const signals = { gpc: 'deny', gpp: ['saleOptOut'], cookiebot: ['marketing'] };
  const context = { us_privacy: '1YYN', gpp: gppOf({ usnat: { Gpc: true } }), cookieconsent: '{marketing:true}' };
  expect(ask(signals, context, { hasGpc: true, ignoresOptOuts: true })).toEqual(granted('cookieconsent'));
  expect(ask(signals, context, { hasGpc: true })).toEqual(denied('us_privacy'));
});

test('consent signals: every category that the signal names has to be allowed; categories it does not name are ignored', () => {
  const said = (names: readonly string[]) => ask({ oneTrust: names }, { optanon: 'groups=C1:1,C2:0,C3:1' });
  expect([['c1'], ['c1', 'C3'], ['c1', 'c2'], ['c1', 'c9'], ['c9'], []].map(said)).toEqual([
    granted('optanon'),
    granted('optanon'),
    denied('optanon'),
    granted('optanon'),
    undefined,
    undefined,
  ]);
});

test('consent signals: one listed opt-out is enough, and a US Privacy string is read only if opt-outs are listed', () => {
  const gpp = gppOf({ usnat: { SaleOptOut: 1, SharingOptOut: 2 } });
  expect(ask({ gpp: ['saleOptOut', 'sharingOptOut'] }, { gpp })).toEqual(denied('gpp'));
  expect([ask({ gpc: 'deny' }, { us_privacy: '1YYN' }), unreadable]).toEqual([undefined, 0]);
  const list = ask({ gpp: ['saleOptOut'] }, { us_privacy: ['1YYN'] });
  expect([list, unreadable]).toEqual([denied('us_privacy, unreadable'), 1]);
});

test('consent signals: a dialog of Didomi grants and denies', () => {
  const token = Buffer.from('{"purposes":{"enabled":["ads"],"disabled":["more"]}}').toString('base64');
  const said = (ids: readonly string[]) => ask({ didomi: ids }, { didomi: token });
  expect([['ads'], ['more'], ['ads', 'more']].map(said)).toEqual([
    granted('didomi'),
    denied('didomi'),
    denied('didomi'),
  ]);
});

test('consent signals: a TC string without a publisher segment denies publisher purposes, and counts as readable', () => {
  const [, text = ''] = gppOf({ tcfeuv2: { PurposeConsents: purposes(1) } }).split('~');
  const [core = ''] = text.split('.');
  expect([ask({ tcf: { purposes: [1], segment: 'publisher' } }, { tcf: core }), unreadable]).toEqual([
    denied('tcf'),
    0,
  ]);
});

test('consent signals: opt-outs are read by default', () => {
  const signals = { gpp: ['saleOptOut'] };
  const carried = { context: { us_privacy: '1YYN' }, hasGpc: false };
  expect(answerBySignals(signals, carried, { onUnreadable: () => undefined })).toEqual(denied('us_privacy'));
});

test('consent signals: gpp_sid limits the sections that are read from a GPP string', () => {
  const gpp = gppOf({ usnat: { SaleOptOut: 1 }, usca: { SaleOptOut: 2, Gpc: true } });
  const ofSections = (gpp_sid: unknown) => ask({ gpp: ['saleOptOut'] }, { gpp, gpp_sid });
  expect([7, 8, '8', [7, 8]].map(ofSections)).toEqual([denied('gpp'), undefined, undefined, denied('gpp')]);
  expect([7, 8, undefined].map((gpp_sid) => gppHasGpc({ gpp, gpp_sid }))).toEqual([false, true, true]);
  expect(
    [undefined, '', 7, 'broken', gppOf({ usnat: { Gpc: false } })].map((text) => gppHasGpc({ gpp: text })),
  ).toEqual([false, false, false, false, false]);
});

test.each<[Parameters<typeof isOptOut>[0], boolean]>([
  [{ purpose: 'p', isGranted: false, layer: 'signal', detail: 'gpc' }, true],
  [{ purpose: 'p', isGranted: false, layer: 'signal', detail: 'gpp' }, true],
  [{ purpose: 'p', isGranted: false, layer: 'signal', detail: 'us_privacy' }, true],
  [{ purpose: 'p', isGranted: false, layer: 'signal', detail: 'tcf' }, false],
  [{ purpose: 'p', isGranted: false, layer: 'signal' }, false],
  [{ purpose: 'p', isGranted: true, layer: 'signal', detail: 'gpc' }, false],
  [{ purpose: 'p', isGranted: false, layer: 'default', detail: 'gpc' }, false],
])('consent signals: %j is an opt-out: %s', (answer, expected) => {
  expect(isOptOut(answer)).toBe(expected);
});
