import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';

/** A counter for each of a few values, reported as `<name>_<value>`; shown as one metric with a label. */
export type CounterFamily = { readonly help: string; readonly label: string; readonly values: readonly string[] };

/**
 * A counter for each name that an actor meets, reported as `<counter>:<name>`; shown as one metric with a label. The
 * actor limits the number of names.
 */
export type NamedCounter = { readonly help: string; readonly label: string };

/** The buckets where actors store their positions. */
export type PlaceBuckets = { readonly health: Bucket; readonly positions: Bucket };

/** A subject of the log that only one actor uses. */
export type OwnSubject = { readonly stream: string; readonly subject: string };

/** Which actors of a kind run: one for each partition of the log, or those that the live versions of accounts need. */
export type Wanted<Spec> =
  | { readonly by: 'log'; specs(partitions: number): readonly Spec[] }
  | {
      readonly by: 'account';
      specs(config: LiveConfig): readonly Spec[];
      /** The spec of an actor that is no longer needed. Only what it left in the log is known of it. */
      specOf(key: string, accountId: string): Spec;
      /** What such an actor left in the log and no later actor needs, apart from its consumer. */
      leaves(key: string): readonly OwnSubject[];
      /** Removes the actor's position, if stored in addition to its consumer: a new actor starts at the beginning. */
      forget?(buckets: PlaceBuckets, key: string): Promise<void>;
      /** Actors with such a position, apart from the live ones: their consumers may be lost. */
      remembered?(buckets: PlaceBuckets, isLive: (key: string) => boolean): Promise<readonly Spec[]>;
    };

/** The durable consumer of an actor, by the actor's key. */
export type ConsumerNames = {
  nameOf(key: string): string;
  /** The key of the actor that a consumer belongs to; undefined if the consumer belongs to no actor of this kind. */
  keyOf(name: string): string | undefined;
};

/**
 * Everything that is particular to a kind of worker. Code that places, starts, counts, shows and retires actors uses
 * only this definition. `Host` is what an actor needs from its thread.
 */
export type WorkerDefinition<
  Spec extends { readonly kind: string },
  Host,
  Counter extends string,
  Gauge extends string,
  Families extends Readonly<Record<string, CounterFamily>>,
> = {
  readonly kind: Spec['kind'];
  /** Distinguishes actors of the kind: their id is `<kind>-<key>`. */
  keyOf(spec: Spec): string;
  /** Load of an actor, relative to other kinds, while no other of its kind is busy: some kinds read every event. */
  readonly weight: number;
  readonly wanted: Wanted<Spec>;
  readonly consumer: ConsumerNames;
  /** The label that the key has in metrics; undefined if only the sum over all actors is shown. */
  readonly label: 'partition' | 'destination_id' | undefined;
  /** The counters of an actor, by their reported names, with their meanings. */
  readonly counters: Readonly<Record<Counter, string>>;
  readonly families: Families;
  /** Counters for each account, reported as `<name>:<account id>`; shown as sums over all actors. */
  readonly accountCounters?: Readonly<Record<string, string>>;
  /** Gauges for each account. */
  readonly accountGauges?: Readonly<Record<string, string>>;
  readonly namedCounters?: Readonly<Record<string, NamedCounter>>;
  /** Gauges. */
  readonly gauges: Readonly<Record<Gauge, string>>;
  /** Names of the counters of the frames that an actor has read, and of their events; undefined if it has none. */
  readonly framesRead: { readonly frames: NoInfer<Counter>; readonly events: NoInfer<Counter> } | undefined;
  start(spec: Spec, host: Host): Promise<Actor<NoInfer<Counter | Gauge | FamilyStat<Families>>>>;
};

/** The reported names of a family's numbers. */
export type FamilyStat<Families> = {
  [Name in keyof Families & string]: Families[Name] extends { readonly values: readonly (infer Value extends string)[] }
    ? `${Name}_${Value}`
    : never;
}[keyof Families & string];

/**
 * Declares a kind of worker, which runs once it stands in the registry.
 *
 * ```ts
 * export const exampleWorker = defineWorker({
 *   kind: 'example',
 *   keyOf: ({ accountId }: ExampleSpec) => accountId,
 *   wanted: { by: 'account', specs: ({ accountId }) => [{ kind: 'example', accountId }], … },
 *   consumer: consumersByKey((key) => `example-${key}`, 'x'),
 *   counters: { turns: 'Times an example had its turn' },
 *   …
 *   start: async (spec, host) => ({ done, stop: async () => end(), stats: () => ({ turns }) }),
 * });
 * ```
 */
export function defineWorker<
  Spec extends { readonly kind: string },
  Host,
  Counter extends string,
  Gauge extends string,
  const Families extends Readonly<Record<string, CounterFamily>>,
>(
  definition: WorkerDefinition<Spec, Host, Counter, Gauge, Families>,
): WorkerDefinition<Spec, Host, Counter, Gauge, Families> {
  return definition;
}

/** Consumers whose names end in the key of their actor. `sample` is any valid key. */
export function consumersByKey(nameOf: (key: string) => string, sample: string): ConsumerNames {
  const prefix = nameOf(sample).slice(0, -sample.length);
  return { nameOf, keyOf: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : undefined) };
}

/** A new record with 0 for each name in the tables. */
export function zeros<Name extends string>(
  ...tables: readonly Readonly<Record<Name, unknown>>[]
): Record<Name, number> {
  const names = tables.flatMap((table) => Object.keys(table));
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** A worker that runs on a thread. `Stat` names the numbers it reports. */
export type Actor<Stat extends string = string> = {
  /** Rejects when an error ended the actor; resolves when it has ended after `stop`. */
  readonly done: Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** The actor's numbers. May be the same object, updated: a copy each time would be most of an idle actor's cost. */
  stats(): Readonly<Record<Stat, number>>;
  /** Called when the configuration of the actor's account has changed. */
  reconfigured?(): void;
  /** Called when a tier of the actor's retry log has new frames. */
  retriesStored?(tier: number): void;
  /** Skips events of the actor's log up to a sequence: they have waited too long, or take too much room. */
  passOver?(upToSeq: number): void | Promise<void>;
};
