import { unavailableDestinationTypes } from '../../shared/collections/unavailable-destination-types.ts';
import type { OfferedKind } from '../../shared/destinations/common-settings.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import type { KindFacts, KindLimits, KindVersion } from '../../shared/destinations/sdk/facts.ts';
import { platformEvents } from '../../shared/destinations/sdk/platform-events.ts';
import type { SettingDescriptor } from '../../shared/destinations/sdk/settings.ts';
import type { PlatformVocabulary } from '../../shared/destinations/sdk/standard-events.ts';
import { table } from './api-pages.ts';
import { identitiesOf } from './identity-fields.ts';
import { outcomeSections, privacySection } from './outcome-sections.ts';
import type { Page } from './page.ts';

const kinds: readonly OfferedKind[] = destinationKinds.toSorted((a, b) =>
  a.descriptor.label.localeCompare(b.descriptor.label, 'en'),
);

/** A page per destination kind: settings, requests sent, and the platform's limits. */
export function destinationPages(): readonly Page[] {
  return kinds.map((kind) => ({
    path: pathOf(kind),
    label: kind.descriptor.label,
    source: undefined,
    markdown: describeKind(kind),
  }));
}

const pathOf = ({ descriptor }: OfferedKind): string => `destinations/${descriptor.id.toLowerCase()}`;

/** The tables of the page that lists all kinds: the offered kinds, and known types that are not offered. */
export function destinationTables(): string {
  const rows = kinds.map((kind) => [
    `[${kind.descriptor.label}](/docs/${pathOf(kind)}.html)`,
    `\`${kind.descriptor.id}\``,
    kind.facts.sends,
    String(kind.facts.limits.events),
    ...endOf(kind.facts),
  ]);
  const missing = unavailableDestinationTypes.map(({ id, label, reason }) => [label, `\`${id}\``, reason]);
  return [
    table(['Destination', 'Type', 'Sends', 'Events a request', 'API version', 'Ends', 'Checked'], rows),
    '## Not offered',
    'These types have a name in the interface, but no documented way to deliver to them. Creating one is refused with the reason.',
    table(['Destination', 'Type', 'Reason'], missing),
  ].join('\n\n');
}

function describeKind(kind: OfferedKind): string {
  const { descriptor, facts, exampleSettings } = kind;
  const { id, label, settings } = descriptor;
  const example = { name: label, type: id, settings: exampleSettings };
  const vocabulary = (platformEvents as Readonly<Record<string, PlatformVocabulary | undefined>>)[id];
  return [
    `# ${label}`,
    `Type \`${id}\`. Sends: ${sentence(facts.sends)}`,
    '## Settings',
    table(['Setting', 'Type', 'Meaning'], settings.flatMap(settingRow)),
    '```json\n' + JSON.stringify(example, undefined, 2) + '\n```',
    'Create it in the console, or with `POST /rest/v1/destinations` and this body. The values are made up.',
    '## Delivery',
    table(
      ['Fact', 'Value'],
      [
        ['Events in one request', limitsOf(facts.limits)],
        [
          'Recognises a repeated event by',
          facts.deduplicatesBy === undefined ? 'nothing: a repeat counts twice' : `\`${facts.deduplicatesBy}\``,
        ],
        ['Reports rejected events by', facts.errors],
        ...(facts.limitedUse === undefined ? [] : [['For limited use', facts.limitedUse]]),
        ...(facts.consentTypes === undefined
          ? []
          : [["Google's consent types", facts.consentTypes.map((type) => `\`${type}\``).join(', ')]]),
        ['Compared with the platform’s documentation', facts.checked],
        ['API version', versionOf(facts.version)],
      ],
    ),
    `Sources: ${facts.sources.map((source) => `<${source}>`).join(', ')}.`,
    'Try it without an account: `POST /rest/v1/destinations/{id}/test` with `{"sandbox": true}` sends the request to the documented interface of the platform, played by Sluice.',
    ...outcomeSections(kind),
    ...(vocabulary === undefined ? [] : events(vocabulary)),
    ...identity(kind),
    ...privacySection(kind),
  ].join('\n\n');
}

/** Cells of a kind in the table of all kinds: API version, its end of life, and when both were last checked. */
function endOf({ version, checked }: KindFacts): readonly string[] {
  return version === 'unversioned' ? ['–', '–', checked] : [version.name, version.ends ?? 'not published', checked];
}

function versionOf(version: KindVersion | 'unversioned'): string {
  if (version === 'unversioned') return 'the platform does not number versions';
  const { name, ends } = version;
  return ends === undefined ? `${name}; the platform has published no end date` : `${name}, until ${ends}`;
}

/** The section on identity: the fields of a request for an order that identify a fully known customer. */
function identity(kind: OfferedKind): string[] {
  const identities = identitiesOf(kind);
  if (identities === undefined) return [];
  const rows = identities.map(([label, field, form]) => [label, `\`${field}\``, form]);
  return [
    '## Identity',
    'Members of the request for `Order Completed` that identify the person. A [mapping](/docs/destinations.html#mappings) overrides a value as `visitor.<name>`; the modification `Null` withholds it.',
    rows.length === 0 ? 'None.' : table(['Of the visitor', 'Field', 'Written'], rows),
  ];
}

function settingRow(setting: SettingDescriptor): string[][] {
  if (setting.type === 'Alert') return [];
  const isRequired = 'required' in setting && setting.required === true;
  const meaning = [setting.label, setting.sublabel ?? '']
    .filter((part) => part !== '')
    .map(sentence)
    .join(' ');
  const options =
    setting.type === 'Select' ? ` One of ${setting.options.map(({ value }) => `\`${value}\``).join(', ')}.` : '';
  return [
    [
      `\`${setting.key}\`${isRequired ? ' *' : ''}`,
      setting.type === 'Secret' ? 'Secret, stored encrypted' : setting.type,
      `${meaning}${options}`,
    ],
  ];
}

function events({ others = [], parameters, unnamed, source }: PlatformVocabulary): string[] {
  const fields = Object.entries(parameters).map(([parameter, path]) => [`\`${parameter}\``, `\`${path}\``]);
  return [
    '## Names of events',
    `After <${source}>. An event without a name there: ${unnamed}. Other spellings are on [Standard events](/docs/standard-events.html).`,
    ...(others.length === 0
      ? []
      : [`Also the platform’s own names: ${others.map((name) => `\`${name}\``).join(', ')}.`]),
    ...(fields.length === 0 ? [] : [table(['Value', 'Field of the request'], fields)]),
  ];
}

function limitsOf({ events: eventsMax, bytes, ageDays, rate }: KindLimits): string {
  const number = new Intl.NumberFormat('en-GB');
  return [
    eventsMax === 1 ? '1 event' : `${number.format(eventsMax)} events`,
    ...(bytes === undefined ? [] : [`${number.format(bytes)} bytes`]),
    ...(ageDays === undefined ? [] : [`events up to ${ageDays} days old`]),
    ...(rate === undefined ? [] : [rate]),
  ].join(', ');
}

const sentence = (text: string): string => (/[.!?:]$/.test(text) ? text : `${text}.`);
