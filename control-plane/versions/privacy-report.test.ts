import { expect, test } from 'vitest';
import { compareReports, privacyReport, reportCsv } from './privacy-report.ts';
import type { ReportRow } from './privacy-report.ts';

type Made = Parameters<typeof privacyReport>[0];

const names = [
  'destinations',
  'mappings',
  'allowedEvents',
  'consentSettings',
  'externalAllowedEventData',
  'dataGovernanceEvents',
  'dataGovernanceRules',
];

const snapshot = (given: object): Made =>
  ({ ...Object.fromEntries(names.map((name) => [name, []])), ...given }) as unknown as Made;

const destination = (more: object = {}) => ({
  id: 'd1',
  name: 'Warehouse',
  type: 'HTTPDestination',
  status: 'Enabled',
  settings: null,
  ...more,
});
const mapping = (more: object) => ({
  id: 'm1',
  name: 'Leads',
  destinationId: 'd1',
  priority: 1,
  isEnabled: true,
  logic: null,
  action: 'send',
  mappings: [],
  others: 'omit',
  ...more,
});

const short = (rows: readonly ReportRow[]): readonly string[] =>
  rows.map(({ event, property, treatment, by, isConditional }) =>
    [event, property, treatment, by ?? '-', ...(isConditional ? ['if'] : [])].join(' '),
  );

test('privacy report: says for each property in which form, for which purposes and in which regions it is sent', () => {
  const rows = [
    { property: 'em', map: '{{visitor.email}}', modification: 'HashedNormalized' },
    { property: 'ssn', map: '{{event.event_properties.ssn}}', modification: 'Encrypted' },
    { property: 'ip', map: '{{event.ip}}', modification: 'RegionalIP' },
    { property: 'name', map: '{{visitor.first_name}}', modification: 'Redacted' },
    { property: 'plan', map: '{{event.event_properties.plan}}', modification: 'LowerCase' },
  ];
  const report = privacyReport(
    snapshot({
      destinations: [
        destination({ settings: { consentRule: 'any', onOptOut: 'limitedUse', region: 'EU' } }),
        destination({ id: 'd2', status: 'Disabled' }),
      ],
      mappings: [mapping({ mappings: rows }), mapping({ id: 'm2', isEnabled: false, action: 'stop' })],
      allowedEvents: [
        { name: 'Lead', destinationIds: ['d1'] },
        { name: 'Other', destinationIds: ['d2'] },
      ],
      consentSettings: [
        { name: 'advertising', isEnabled: true, regions: ['US-CA'], destinationIds: ['d1'] },
        { name: 'analytics', isEnabled: true, regions: ['EEA'], destinationIds: ['d1'] },
        { name: 'off', isEnabled: false, regions: null, destinationIds: ['d1'] },
      ],
    }),
  );
  expect(short(report)).toEqual([
    'Lead em hashed HashedNormalized',
    'Lead ssn encrypted Encrypted',
    'Lead ip reduced RegionalIP',
    'Lead name redacted Redacted',
    'Lead plan plain LowerCase',
    'Lead * omitted mapping Leads',
    '$* em hashed HashedNormalized',
    '$* ssn encrypted Encrypted',
    '$* ip reduced RegionalIP',
    '$* name redacted Redacted',
    '$* plan plain LowerCase',
    '$* * omitted mapping Leads',
  ]);
  expect(report[0]).toMatchObject({
    destinationId: 'd1',
    destination: 'Warehouse',
    purposes: ['advertising', 'analytics'],
    consentRule: 'any',
    onOptOut: 'limitedUse',
    regions: ['EEA', 'US-CA'],
    destinationRegion: 'EU',
  });
});

test('privacy report: if no rule always applies, the default payload is sent as allow-list and plan permit', () => {
  const given = {
    destinations: [destination()],
    mappings: [mapping({ logic: { condition: {} }, action: 'stop' })],
    dataGovernanceEvents: [{ name: 'Lead', properties: [{ name: 'email' }, { name: 'plan' }, { name: 'ssn' }] }],
    dataGovernanceRules: [
      {
        name: 'no ssn',
        isEnabled: true,
        type: 'Forbidden',
        action: 'Omit',
        eventName: 'lead',
        property: 'event_properties.ssn',
      },
      {
        name: 'counted',
        isEnabled: true,
        type: 'Forbidden',
        action: 'Report',
        eventName: null,
        property: 'event_properties.plan',
      },
    ],
  };
  expect(short(privacyReport(snapshot(given)))).toEqual([
    '* * stopped mapping Leads if',
    '* * plain - if',
    'Lead * stopped mapping Leads if',
    'Lead ssn omitted rule no ssn if',
    'Lead email plain - if',
    'Lead plan plain - if',
    'Lead * plain - if',
  ]);
  const limited = { ...given, mappings: [], externalAllowedEventData: [{ name: 'Lead', properties: ['plan'] }] };
  expect(short(privacyReport(snapshot(limited)))).toEqual([
    '* * omitted allow-list',
    'Lead ssn omitted rule no ssn',
    'Lead email omitted allow-list',
    'Lead plan plain -',
    'Lead * omitted allow-list',
  ]);
});

test('privacy report: unlisted overrides of the visitor are redacted, limited use and denials are not omitted', () => {
  const rows = [
    { property: 'visitor.email', map: '{{visitor.email}}', modification: 'HashedNormalized' },
    { property: 'visitor.first_name', map: '{{visitor.first_name}}', modification: 'Null' },
    { property: 'visitor.plan', map: '{{visitor.plan}}' },
    { property: 'phone', map: '{{visitor.phone_number}}' },
    { property: 'city', map: '{{visitor.city}}' },
    { property: 'deep.note', map: '', modification: 'Null' },
    { property: 'limited_data_use', map: 'true' },
    { property: 'consent.ad_user_data', map: 'DENIED' },
    { property: 'value', map: '{{event.event_properties.value}}' },
  ];
  const report = privacyReport(
    snapshot({
      destinations: [destination()],
      mappings: [mapping({ mappings: rows })],
      allowedEvents: [{ name: 'Lead', destinationIds: ['d1'] }],
      externalAllowedEventData: [{ name: '*', properties: ['value'] }],
    }),
  );
  expect(short(report).slice(0, rows.length)).toEqual([
    'Lead visitor.email redacted allow-list',
    'Lead visitor.first_name redacted Null',
    'Lead visitor.plan omitted allow-list',
    'Lead phone redacted allow-list',
    'Lead city omitted allow-list',
    'Lead deep.note omitted allow-list',
    'Lead limited_data_use plain -',
    'Lead consent.ad_user_data reduced allow-list',
    'Lead value plain None',
  ]);
});

test('privacy report: an event that only a rule, an allow-list or the sample names has rows of its own', () => {
  const rule = { name: 'no pin', isEnabled: true, type: 'Forbidden', action: 'Omit', property: 'event_properties.pin' };
  const seen = [
    { event: 'Signup', property: 'event_properties.contact', kind: 'email' },
    { event: 'Paid', property: 'event_properties.pin', kind: 'national_id' },
    { event: '*', property: 'default_properties.ip', kind: 'ip' },
  ];
  const given = { destinations: [destination()], dataGovernanceRules: [{ ...rule, eventName: 'paid' }] };
  const report = privacyReport(snapshot(given), seen);
  expect(short(report)).toEqual([
    '* * plain -',
    'Signup contact plain -',
    'Signup * plain -',
    'paid pin omitted rule no pin',
    'paid * plain -',
  ]);
  expect(report.map(({ personal }) => personal ?? '-')).toEqual(['-', 'email', '-', 'national_id', '-']);
  const externalAllowedEventData = [
    { name: '*', properties: ['currency'] },
    { name: 'Ordered', properties: ['total'] },
  ];
  expect(short(privacyReport(snapshot({ destinations: [destination()], externalAllowedEventData })))).toEqual([
    '* currency plain -',
    '* * omitted allow-list',
    'Ordered currency plain -',
    'Ordered total plain -',
    'Ordered * omitted allow-list',
  ]);
});

test('privacy report: an allow-list limits the events of the service too', () => {
  const given = {
    destinations: [destination()],
    allowedEvents: [{ name: 'Lead', destinationIds: ['d1'] }],
    externalAllowedEventData: [{ name: '$identify', properties: ['plan'] }],
  };
  expect(short(privacyReport(snapshot(given)))).toEqual([
    '$identify plan plain -',
    '$identify * omitted allow-list',
    'Lead * omitted allow-list',
    '$* * omitted allow-list',
  ]);
});

test('privacy report: a row is personal if its mapping reads a personal property, whatever names the two have', () => {
  const row = (property: string, map: string, modification = 'None') => ({ property, map, modification });
  const seen = [
    { event: 'Signup', property: 'event_properties.email', kind: 'email' },
    { event: 'Signup', property: 'event_properties.people.phone', kind: 'phone' },
  ];
  const mappings = [
    row('em', '{{event.event_properties.email}}', 'Hash'),
    row('em', 'to {{ $event.event_properties.email }}'),
    row('ph', '{{event.event_properties.people.0.phone}}'),
    row('all', '{{event.event_properties}}'),
    row('email', '{{event.event_properties.emailed}}'),
  ];
  const given = [mapping({ mappings, eventName: 'Signup of {{event.event_properties.people}}' })];
  const report = privacyReport(snapshot({ destinations: [destination()], mappings: given }), seen);
  expect(
    report
      .filter(({ event }) => event === 'Signup')
      .map(({ property, treatment, personal }) => `${property} ${treatment} ${personal ?? '-'}`),
  ).toEqual([
    '$event plain phone',
    'em hashed email',
    'em plain email',
    'ph plain phone',
    'all plain email',
    'email plain -',
    '* omitted -',
  ]);
});

test('privacy report: a comparison lists added and removed rows, and the CSV runs nothing in a spreadsheet', () => {
  const before = privacyReport(snapshot({ destinations: [destination({ name: '=1+1' })] }));
  const rows = [{ property: 'em', map: '{{visitor.email}}', modification: 'Hash' }];
  const after = privacyReport(
    snapshot({ destinations: [destination({ name: '=1+1' })], mappings: [mapping({ mappings: rows })] }),
  );
  const changes = compareReports(before, after);
  expect([short(changes.added), short(changes.removed)]).toEqual([
    ['* em hashed Hash', '* * omitted mapping Leads'],
    ['* * plain -'],
  ]);
  expect(compareReports(after, after)).toEqual({ added: [], removed: [] });
  const lines = reportCsv(after, changes).split('\r\n');
  expect(lines[0]).toMatch(/^change,event,property,destination,/);
  expect(lines.slice(1).map((line) => line.split(',').slice(0, 4))).toEqual([
    ['"added"', '"*"', '"em"', `"'=1+1"`],
    ['"added"', '"*"', '"*"', `"'=1+1"`],
    ['"removed"', '"*"', '"*"', `"'=1+1"`],
    [''],
  ]);
});
