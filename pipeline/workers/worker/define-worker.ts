import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';

/** A counter an actor keeps once for each of a few values, under `<name>_<value>`; shown as one metric with a label. */
export type CounterFamily = { readonly help: string; readonly label: string; readonly values: readonly string[] };

/**
 * A counter an actor keeps once for each name it comes across, under `<counter>:<name>`; shown as one metric with a label.
 * The actor bounds how many names there are.
 */
export type NamedCounter = { readonly help: string; readonly label: string };

/** Where actors keep how far they have come. */
export type PlaceBuckets = { readonly health: Bucket; readonly positions: Bucket };

/** What an actor of the kind keeps in a subject of the log for itself alone. */
export type OwnSubject = { readonly stream: string; readonly subject: string };

/** Who asks for the actors of a kind: the log, for as long as it is there, or the live version of an account. */
export type Wanted<Spec> =
  | { readonly by: 'log'; specs(partitions: number): readonly Spec[] }
  | {
      readonly by: 'account';
      specs(config: LiveConfig): readonly Spec[];
      /** One that is wanted no more, known only by what it left in the log. */
      specOf(key: string, accountId: string): Spec;
      /** What it leaves in the log beside its consumer, and no later actor needs. */
      leaves(key: string): readonly OwnSubject[];
      /** Forgets how far it had come, where that is kept beside its consumer: started again, it begins at the start. */
      forget?(buckets: PlaceBuckets, key: string): Promise<void>;
    };

/** The durable consumer of an actor, by the actor's key. */
export type ConsumerNames = {
  nameOf(key: string): string;
  /** The key of the actor a consumer is of; undefined for any other consumer. */
  keyOf(name: string): string | undefined;
};

/**
 * A kind of worker: all that is particular to it. Placing, starting, counting, showing and retiring actors
 * derive from this. `Host` is what an actor needs of its thread.
 */
export type WorkerDefinition<
  Spec extends { readonly kind: string },
  Host,
  Counter extends string,
  Gauge extends string,
  Families extends Readonly<Record<string, CounterFamily>>,
> = {
  readonly kind: Spec['kind'];
  /** What tells actors of the kind apart: their id is `<kind>-<key>`, for all who place them. */
  keyOf(spec: Spec): string;
  /** What an actor may come to where it is the only busy one of its kind: some see every event, some a sample of them. */
  readonly weight: number;
  readonly wanted: Wanted<Spec>;
  readonly consumer: ConsumerNames;
  /** The label the key has in metrics; undefined where only the sum over all actors is shown. */
  readonly label: 'partition' | 'destination_id' | undefined;
  /** What an actor counts, by the name it reports it under, and what each means. */
  readonly counters: Readonly<Record<Counter, string>>;
  readonly families: Families;
  /** What an actor counts for each account, reported under `<name>:<account id>`; shown as sums over all actors. */
  readonly accountCounters?: Readonly<Record<string, string>>;
  /** The same, of what may go down again. */
  readonly accountGauges?: Readonly<Record<string, string>>;
  readonly namedCounters?: Readonly<Record<string, NamedCounter>>;
  /** What may go down again. */
  readonly gauges: Readonly<Record<Gauge, string>>;
  /** The counters that say how many frames, and events in them, an actor has read; undefined where it does not matter. */
  readonly framesRead: { readonly frames: NoInfer<Counter>; readonly events: NoInfer<Counter> } | undefined;
  start(spec: Spec, host: Host): Promise<Actor<NoInfer<Counter | Gauge | FamilyStat<Families>>>>;
};

/** The names a family's numbers are reported under. */
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

/** Consumers whose names end in the key of their actor. `sample` is any key that can be one. */
export function consumersByKey(nameOf: (key: string) => string, sample: string): ConsumerNames {
  const prefix = nameOf(sample).slice(0, -sample.length);
  return { nameOf, keyOf: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : undefined) };
}

/** Zero for each name. */
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
  /** What it has counted. It may be one object that changes: a copy each time would be most of what an idle actor costs. */
  stats(): Readonly<Record<Stat, number>>;
  /** The configuration of its account changed. */
  reconfigured?(): void;
  /** A tier of its retry log holds something. */
  retriesStored?(tier: number): void;
  /** What its log has up to a sequence has waited for too long, or takes too much room: it skips up to that sequence. */
  passOver?(upToSeq: number): void | Promise<void>;
};
