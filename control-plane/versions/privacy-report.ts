import { destinationLabel } from '../../shared/collections/kind-labels.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { unlistedAs } from '../../shared/destinations/limit-data.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { splitTemplate } from '../../shared/routing/mapping/template.ts';
import { csvLines } from '../api/csv.ts';

/** How a property is changed on its way to a destination. */
export const treatments = ['plain', 'hashed', 'redacted', 'encrypted', 'reduced', 'omitted', 'stopped'] as const;
export type Treatment = (typeof treatments)[number];

/** One property of one event at one destination. */
export type ReportRow = {
  /** `*`: every other event that the destination gets; `$*`: every other event that the service itself makes. */
  readonly event: string;
  /** `*`: every other property; `$event`: the event's name, if a mapping fills it from properties. */
  readonly property: string;
  readonly destinationId: string;
  readonly destination: string;
  readonly type: string;
  readonly treatment: Treatment;
  /** The modification or rule that changes the property; undefined if it is sent unchanged. */
  readonly by: string | undefined;
  /** Whether this row depends on the condition of a mapping. */
  readonly isConditional: boolean;
  /**
   * The kind of personal data that the property looks like in sampled events; undefined if it does not look personal.
   */
  readonly personal: string | undefined;
  /** Purposes to which the visitor must consent: all of them or any of them, by `consentRule`. */
  readonly purposes: readonly string[];
  readonly consentRule: 'all' | 'any';
  readonly onOptOut: 'stop' | 'limitedUse';
  /** Regions in which the defaults of the purposes apply; empty if they apply everywhere. */
  readonly regions: readonly string[];
  /** The region that the destination's settings name. */
  readonly destinationRegion: string | undefined;
};

/** Maximum number of rows of one report, since configurations made by programs can be large. */
export const reportRowsMax = 20_000;

/** A property that looks personal in sampled events. */
export type SeenProperty = { readonly event: string; readonly property: string; readonly kind: string };

/**
 * The data that a version sends to each enabled destination, derived from its rules without reading an event. A default
 * payload has the event's properties and, if the kind uses them, the visitor's. Properties that were found to look
 * personal have rows even if no rule names them.
 */
export function privacyReport(snapshot: Snapshot, seen: readonly SeenProperty[] = []): readonly ReportRow[] {
  const rows = tracedReport(snapshot, seen).map(withoutReads);
  // Two mapping rows may set the same property in the same way from different ones.
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()].slice(0, reportRowsMax);
}

function withoutReads(traced: TracedRow): ReportRow {
  const { reads: _, ...row } = traced;
  return row;
}

/** All rows of the report, with the properties that each mapping row reads. */
export function tracedReport(snapshot: Snapshot, seen: readonly SeenProperty[] = []): readonly TracedRow[] {
  const { destinations } = snapshot;
  return destinations
    .map((destination) => destination as unknown as JsonObject)
    .filter((destination) => destination['status'] === 'Enabled')
    .flatMap((destination) => rowsOfDestination(snapshot, destination, seen));
}

export type TracedRow = ReportRow & {
  /** The event's properties that a mapping row reads, for `isReadBy`; undefined if a property keeps its own name. */
  readonly reads?: readonly string[];
};

/** Whether a property is, contains or is within one of the properties that a mapping row reads. */
export function isReadBy(reads: readonly string[], property: string): boolean {
  const path = withoutIndexes(`.${property}.`);
  return reads.some((read) => path.startsWith(read) || read.startsWith(path));
}

/** The event's properties in a template, each with a dot on both sides; a dot alone stands for all of them. */
function readsOf(template: unknown): readonly string[] {
  return splitTemplate(String(template)).flatMap((part) => {
    if (typeof part === 'string') return [];
    const found = /^\$?event(?:\.event_properties(\..+)?)?$/.exec(part.placeholder.trim());
    return found === null ? [] : [withoutIndexes(`${found[1] ?? ''}.`)];
  });
}

/** A property of the items of a list has one path, without their indexes. */
const withoutIndexes = (path: string): string => path.replaceAll(/\.\d+(?=\.)/g, '');

type Place = Omit<ReportRow, 'event' | 'personal' | keyof Property>;
/** A version, with the personal properties that were found in sampled events. */
type Known = Snapshot & { readonly seen: readonly string[] };
type Property = Pick<TracedRow, 'property' | 'treatment' | 'by' | 'isConditional' | 'reads'>;

function rowsOfDestination(
  snapshot: Snapshot,
  destination: JsonObject,
  seen: readonly SeenProperty[],
): readonly ReportRow[] {
  const place = placeOf(snapshot, destination);
  return eventsOf(snapshot, place.destinationId, seen).flatMap((event) => {
    const found = new Map(
      seen.flatMap((one) => {
        const own = /^event_properties\.(.+)$/.exec(one.property)?.[1];
        return own !== undefined && isSameName(one.event, event) ? [[own, one.kind] as const] : [];
      }),
    );
    const rows = distinct(mappedProperties({ ...snapshot, seen: [...found.keys()] }, place.destinationId, event));
    const kindOf = ({ property, reads }: Property): string | undefined =>
      reads === undefined ? found.get(property) : [...found].find(([name]) => isReadBy(reads, name))?.[1];
    return rows.map((row) => ({ event, ...row, personal: kindOf(row), ...place }));
  });
}

function placeOf({ consentSettings }: Snapshot, destination: JsonObject): Place {
  const id = String(destination['id']);
  const settings = isJsonObject(destination['settings']) ? destination['settings'] : {};
  const purposes = listOf(consentSettings).filter(
    (purpose) => purpose['isEnabled'] !== false && textsOf(purpose['destinationIds']).includes(id),
  );
  // A row applies everywhere if one of its purposes has no regions.
  const isEverywhere = purposes.some((purpose) => !Array.isArray(purpose['regions']));
  const regions = isEverywhere ? [] : purposes.flatMap((purpose) => textsOf(purpose['regions']));
  const type = String(destination['type']);
  return {
    destinationId: id,
    destination: textOf(destination['name']) ?? destinationLabel(type),
    type,
    purposes: purposes.map((purpose) => String(purpose['name'])).toSorted(),
    consentRule: settings['consentRule'] === 'any' ? 'any' : 'all',
    onOptOut: settings['onOptOut'] === 'limitedUse' ? 'limitedUse' : 'stop',
    regions: [...new Set(regions)].toSorted(),
    destinationRegion: textOf(settings['region']) ?? textOf(settings['dataCentre']),
  };
}

/** Stands for events of the service, such as `$identify`, which allowed events need not contain. */
const ofService = '$*';

/**
 * Names of the events that the destination may get, as far as the version's rules and the sampled events contain them.
 */
function eventsOf(snapshot: Snapshot, destinationId: string, seen: readonly SeenProperty[]): readonly string[] {
  const { allowedEvents, externalAllowedEventData, dataGovernanceEvents, dataGovernanceRules } = snapshot;
  const allowed = listOf(allowedEvents);
  const namesOf = (list: readonly unknown[], member: string): readonly string[] =>
    listOf(list).flatMap((one) => textOf(one[member]) ?? []);
  if (allowed.length > 0) {
    const own = allowed.filter((event) => textsOf(event['destinationIds']).includes(destinationId));
    const limited = namesOf(externalAllowedEventData, 'name').filter((name) => name.startsWith('$'));
    return [...[...new Set([...namesOf(own, 'name'), ...limited])].toSorted(), ofService];
  }
  const known = [
    ...namesOf(dataGovernanceEvents, 'name'),
    ...namesOf(dataGovernanceRules, 'eventName'),
    ...namesOf(externalAllowedEventData, 'name'),
    ...seen.map(({ event }) => event),
  ];
  const byName = new Map(known.toReversed().map((name) => [name.toLowerCase(), name]));
  for (const every of ['*', ofService]) byName.delete(every);
  return ['*', ...[...byName.values()].toSorted()];
}

/**
 * The outcomes of a destination's mappings for an event, then its default payload unless a mapping applies to every
 * event.
 */
function mappedProperties(snapshot: Known, destinationId: string, event: string): readonly Property[] {
  const rules = listOf(snapshot.mappings)
    .filter((rule) => rule['destinationId'] === destinationId && rule['isEnabled'] !== false)
    .toSorted((a, b) => Number(a['priority']) - Number(b['priority']));
  const found: Property[] = [];
  for (const rule of rules) {
    const isConditional = rule['logic'] !== null && rule['logic'] !== undefined;
    found.push(...ruleProperties(snapshot, rule, event, isConditional));
    if (!isConditional) return found;
  }
  return [...found, ...ownProperties(snapshot, event, rules.length > 0)];
}

function ruleProperties(snapshot: Known, rule: JsonObject, event: string, isConditional: boolean): readonly Property[] {
  const by = `mapping ${textOf(rule['name']) ?? String(rule['id'])}`;
  if (rule['action'] === 'stop') return [{ property: '*', treatment: 'stopped', by, isConditional }];
  const rows = listOf(rule['mappings']);
  const nameReads = readsOf(rule['eventName'] ?? '');
  const name: readonly Property[] =
    nameReads.length === 0 ? [] : [{ property: '$event', treatment: 'plain', by, isConditional, reads: nameReads }];
  if (rows.length === 0) return [...name, ...ownProperties(snapshot, event, isConditional)];
  const allowed = allowedProperties(snapshot, event);
  const named = rows.map((row): Property => {
    const property = String(row['property']);
    const reads = readsOf(row['map']);
    const modification = textOf(row['modification']) ?? 'None';
    // The list removes no null of the event or of its visitor.
    const isNull = modification === 'Null' && /^(?:visitor\.)?[^.]+$/.test(property);
    if (allowed !== undefined && !isAllowed(allowed, property) && !isNull) {
      return { ...unlisted(property, { isMapped: true, isConditional }), reads };
    }
    return { property, treatment: treatmentOf(modification), by: modification, isConditional, reads };
  });
  if (rule['others'] === 'keep') return [...name, ...named, ...ownProperties(snapshot, event, isConditional)];
  return [...name, ...named, { property: '*', treatment: 'omitted', by, isConditional }];
}

/** The event's own properties after the allow-list and the tracking plan were applied. */
function ownProperties(snapshot: Known, event: string, isConditional: boolean): readonly Property[] {
  const plan = planProperties(snapshot, event, isConditional);
  const planned = new Set(plan.map(({ property }) => property));
  const allowed = allowedProperties(snapshot, event);
  const known = listOf(snapshot.dataGovernanceEvents)
    .filter((one) => isSameName(one['name'], event))
    .flatMap((one) => listOf(one['properties']).map((property) => String(property['name'])));
  const names = [...new Set([...known, ...(allowed ?? []), ...snapshot.seen])].filter((name) => !planned.has(name));
  const own = names.map((property): Property => {
    if (allowed !== undefined && !isAllowed(allowed, property))
      return unlisted(property, { isMapped: false, isConditional });
    return { property, treatment: 'plain', by: undefined, isConditional };
  });
  const rest: Property = {
    property: '*',
    treatment: allowed === undefined ? 'plain' : 'omitted',
    by: allowed === undefined ? undefined : 'allow-list',
    isConditional,
  };
  return [...plan, ...own, rest];
}

/** A property that the allow-list does not have. */
function unlisted(
  property: string,
  { isMapped, isConditional }: Record<'isMapped' | 'isConditional', boolean>,
): Property {
  const sent = unlistedAs(property, isMapped);
  const treatment = sent === 'null' ? 'redacted' : sent;
  return { property, treatment, by: treatment === 'plain' ? undefined : 'allow-list', isConditional };
}

/** Properties that a rule of the tracking plan forbids and omits or redacts before anything is sent. */
function planProperties(snapshot: Snapshot, event: string, isConditional: boolean): readonly Property[] {
  return listOf(snapshot.dataGovernanceRules).flatMap((rule): readonly Property[] => {
    const applies =
      rule['eventName'] === null || rule['eventName'] === undefined || isSameName(rule['eventName'], event);
    if (rule['isEnabled'] === false || rule['type'] !== 'Forbidden' || !applies) return [];
    const property = String(rule['property']).replace(/^event_properties\./, '');
    const by = `rule ${String(rule['name'])}`;
    if (rule['action'] === 'Omit') return [{ property, treatment: 'omitted', by, isConditional }];
    return rule['action'] === 'Redact' ? [{ property, treatment: 'redacted', by, isConditional }] : [];
  });
}

/** The allow-list of an event; undefined if no allow-list is published. */
function allowedProperties({ externalAllowedEventData }: Snapshot, event: string): readonly string[] | undefined {
  const entries = listOf(externalAllowedEventData);
  if (entries.length === 0) return undefined;
  return entries
    .filter((entry) => entry['name'] === '*' || isSameName(entry['name'], event))
    .flatMap((entry) => textsOf(entry['properties']));
}

/** Whether the allow-list contains the property, a property inside of it, or a property that contains it. */
const isAllowed = (allowed: readonly string[], property: string): boolean =>
  allowed.some((one) => property === one || property.startsWith(`${one}.`) || one.startsWith(`${property}.`));

function treatmentOf(modification: string): Treatment {
  if (modification === 'Encrypted') return 'encrypted';
  if (modification === 'Null' || modification === 'Redacted') return 'redacted';
  if (modification.startsWith('Hash')) return 'hashed';
  return plainModifications.has(modification) ? 'plain' : 'reduced';
}

const plainModifications: ReadonlySet<string> = new Set([
  'None',
  'FullUrl',
  'CamelCase',
  'KebabCase',
  'SnakeCase',
  'StartCase',
  'LowerCase',
  'UpperCase',
]);

/**
 * Keeps all mapping rows and all conditional rows, since any of them may apply: of two mapping rows for a property, the
 * later one with a value does. Keeps the first of the other rows of each property.
 */
function distinct(rows: readonly Property[]): readonly Property[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(row.isConditional ? row : row.property);
    const isSeen = seen.has(key) && (row.isConditional || row.reads === undefined);
    seen.add(key);
    return !isSeen;
  });
}

export type ReportChanges = { readonly added: readonly ReportRow[]; readonly removed: readonly ReportRow[] };

/** Rows that only one of two reports has. Pure. */
export function compareReports(before: readonly ReportRow[], after: readonly ReportRow[]): ReportChanges {
  const keysOf = (rows: readonly ReportRow[]): ReadonlySet<string> => new Set(rows.map((row) => JSON.stringify(row)));
  const [old, now] = [keysOf(before), keysOf(after)];
  return {
    added: after.filter((row) => !old.has(JSON.stringify(row))),
    removed: before.filter((row) => !now.has(JSON.stringify(row))),
  };
}

const columns = [
  'change',
  'event',
  'property',
  'destination',
  'destinationId',
  'type',
  'treatment',
  'by',
  'isConditional',
  'personal',
  'purposes',
  'consentRule',
  'onOptOut',
  'regions',
  'destinationRegion',
] as const;

/** The report as CSV (RFC 4180): new rows, unchanged rows, then rows of the version before. */
export function reportCsv(rows: readonly ReportRow[], { added, removed }: ReportChanges): string {
  const isAdded = new Set(added);
  return csvLines(columns, [
    ...rows.map((row) => ({ ...row, change: isAdded.has(row) ? 'added' : '' })),
    ...removed.map((row) => ({ ...row, change: 'removed' })),
  ]);
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const isSameName = (name: unknown, event: string): boolean => String(name).toLowerCase() === event.toLowerCase();
