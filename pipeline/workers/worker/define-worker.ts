import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';

/** A counter for each of a few values, under `<name>_<value>`; shown as one metric with a label. */
export type CounterFamily = { readonly help: string; readonly label: string; readonly values: readonly string[] };

/**
 * A counter for each name that an actor meets, under `<counter>:<name>`; shown as one metric with a label. The actor
 * bounds the number of names.
 */
export type NamedCounter = { readonly help: string; readonly label: string };

/** The buckets where actors store their positions. */
export type PlaceBuckets = { readonly health: Bucket; readonly positions: Bucket };

/** A subject of the log that one actor uses alone. */
export type OwnSubject = { readonly stream: string; readonly subject: string };

/** Which actors of a kind run: one for each partition of the log, or those that the live versions of accounts need. */
export type Wanted<Spec> =
  | { readonly by: 'log'; specs(partitions: number): readonly Spec[] }
  | {
      readonly by: 'account';
      specs(config: LiveConfig): readonly Spec[];
      /** The spec of an actor that is no longer required, known only by its remains in the log. */
      specOf(key: string, accountId: string): Spec;
      /** Its remains in the log, other than its consumer, that no later actor needs. */
      leaves(key: string): readonly OwnSubject[];
      /** Removes its position, if that is stored in addition to its consumer: a new actor starts at the beginning. */
      forget?(buckets: PlaceBuckets, key: string): Promise<void>;
    };

/** The durable consumer of an actor, by the actor's key. */
export type ConsumerNames = {
  nameOf(key: string): string;
  /** The key of a consumer's actor; undefined for any other consumer. */
  keyOf(name: string): string | undefined;
};

/**
 * A kind of worker with all its particulars. Placing, starting, counting, showing and retiring actors derive from this.
 * `Host` is what an actor needs of its thread.
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
  /** Load of an actor, relative to other kinds, if no other of its kind is busy: some see each event, some a sample. */
  readonly weight: number;
  readonly wanted: Wanted<Spec>;
  readonly consumer: ConsumerNames;
  /** The label the key has in metrics; undefined if only the sum over all actors is shown. */
  readonly label: 'partition' | 'destination_id' | undefined;
  /** The counters of an actor, by their reported names, with their meanings. */
  readonly counters: Readonly<Record<Counter, string>>;
  readonly families: Families;
  /** Counters for each account, reported under `<name>:<account id>`; shown as sums over all actors. */
  readonly accountCounters?: Readonly<Record<string, string>>;
  /** Gauges for each account. */
  readonly accountGauges?: Readonly<Record<string, string>>;
  readonly namedCounters?: Readonly<Record<string, NamedCounter>>;
  /** Gauges. */
  readonly gauges: Readonly<Record<Gauge, string>>;
  /** The counters of frames, and of their events, that an actor has read; undefined without such counters. */
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
  /** Settles when the actor has ended: rejects when an error ended it, resolves after `stop`. */
  readonly done: Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** Its numbers. May be the same, changing object: a copy each time would be most of an idle actor's cost. */
  stats(): Readonly<Record<Stat, number>>;
  /** The configuration of its account changed. */
  reconfigured?(): void;
  /** A tier of its retry log has new frames. */
  retriesStored?(tier: number): void;
  /** Events of its log up to a sequence have waited too long, or take too much room: it skips them. */
  passOver?(upToSeq: number): void | Promise<void>;
};
