import { isDeepStrictEqual } from 'node:util';
import { entityName } from '../../shared/collections/kind-labels.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import type { Way } from '../events/decide-ways.ts';
import type { RecentEventRecord } from '../events/recent-events.ts';

/** What one of two snapshots decides about an event at a destination. */
export type ShownWay = Pick<Way, 'decision' | 'why' | 'eventName' | 'sentName' | 'request'>;

export type WayChange = 'added' | 'removed' | 'changed';

export type Sample = {
  readonly eventId: string;
  readonly event: string;
  readonly time: string;
  readonly change: WayChange;
  readonly before: ShownWay | null;
  readonly after: ShownWay | null;
};

export type DestinationImpact = {
  readonly destinationId: string;
  readonly name: string;
  readonly type: string;
  readonly changed: number;
  readonly added: number;
  readonly removed: number;
  readonly samples: readonly Sample[];
};

/** Maximum number of samples of a destination. Samples with different event names come first. */
const samplesMax = 3;

const accountWide = ['allowedEvents', 'externalAllowedEventData', 'consentSettings', 'globalDispatchCenters'] as const;

/** The destinations whose requests may differ between two snapshots; others are skipped. Pure. */
export function affectedDestinations(before: Snapshot, after: Snapshot): Set<string> {
  const ids = new Set([...before.destinations, ...after.destinations].map(({ id }) => id));
  if (accountWide.some((name) => !isDeepStrictEqual(before[name], after[name]))) return ids;
  return new Set([...ids].filter((id) => !isDeepStrictEqual(configOf(before, id), configOf(after, id))));
}

function configOf(snapshot: Snapshot, destinationId: string): readonly (SnapshotEntity | undefined)[] {
  const mappings = snapshot.mappings.filter((mapping) => mapping['destinationId'] === destinationId);
  return [snapshot.destinations.find(({ id }) => id === destinationId), ...mappings];
}

/** Collects how decisions change, event by event. */
export function createImpact(before: Snapshot, after: Snapshot) {
  const found = new Map<string, { changed: number; added: number; removed: number; samples: Sample[] }>();
  return {
    add(record: RecentEventRecord, old: readonly Way[], now: readonly Way[]): void {
      const oldById = new Map(old.map((way) => [way.destinationId, way]));
      const nowById = new Map(now.map((way) => [way.destinationId, way]));
      for (const id of new Set([...oldById.keys(), ...nowById.keys()])) {
        const [one, other] = [oldById.get(id), nowById.get(id)];
        const change = changeOf(one, other);
        if (change === undefined) continue;
        const own = found.get(id) ?? { changed: 0, added: 0, removed: 0, samples: [] };
        found.set(id, own);
        own[change] += 1;
        const isNewName = own.samples.every(({ event }) => event !== record.name);
        if (own.samples.length === samplesMax || !isNewName) continue;
        const shown = { eventId: record.id, event: record.name, time: record.time.toISOString(), change };
        own.samples.push({ ...shown, before: shownWay(one), after: shownWay(other) });
      }
    },
    read(withSamples: boolean): DestinationImpact[] {
      const entityOf = (id: string): SnapshotEntity | undefined =>
        after.destinations.find((one) => one.id === id) ?? before.destinations.find((one) => one.id === id);
      return [...found].map(([destinationId, own]) => {
        const entity = entityOf(destinationId);
        return {
          destinationId,
          name: entity === undefined ? '' : entityName('destinations', entity),
          type: textOf(entity?.['type']),
          ...own,
          ...(withSamples ? {} : { samples: [] }),
        };
      });
    },
  };
}

function shownWay(way: Way | undefined): ShownWay | null {
  if (way === undefined) return null;
  const { decision, why, eventName, sentName, request } = way;
  return { decision, why, eventName, sentName, request };
}

/** How the request of an event changes; undefined if it does not. A value that is encrypted again is no change. Pure. */
export function changeOf(before: Way | undefined, after: Way | undefined): WayChange | undefined {
  const [old, now] = [before?.request ?? undefined, after?.request ?? undefined];
  if (old === undefined) return now === undefined ? undefined : 'added';
  if (now === undefined) return 'removed';
  return withoutCiphers(old) === withoutCiphers(now) ? undefined : 'changed';
}

/** A request as text. Encrypted values are random, so only their key and length remain. */
function withoutCiphers(request: ShownWay['request']): string {
  return JSON.stringify(request).replaceAll(
    /(sluice1\.[\w-]+)\.[\w-]+\.[\w-]+\.([\w-]+)\.[\w-]+/g,
    (_, key: string, encrypted: string) => `${key} ${encrypted.length}`,
  );
}
