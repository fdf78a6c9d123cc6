import type { LiveConfig } from '../../shared/collections/read-live-collections.ts';
import { dispatcherWorker } from './dispatch/worker.ts';
import { resolverWorker } from './resolve/worker.ts';
import { resultsWorker } from './results/worker.ts';
import type {
  Actor,
  CounterFamily,
  FamilyStat,
  OwnSubject,
  PlaceBuckets,
  WorkerDefinition,
} from './worker/define-worker.ts';

/** Every kind of worker there is. */
const definitions = [resolverWorker, dispatcherWorker, resultsWorker] as const;

type Definition = (typeof definitions)[number];
type StartOf<Kind> = Extract<Definition, { readonly kind: Kind }>['start'];

export type WorkerKind = Definition['kind'];

/** The specification of an actor: its kind, and the fields from which an actor of that kind starts. */
export type ActorSpec = { [Kind in WorkerKind]: Parameters<StartOf<Kind>>[0] }[WorkerKind];
/** An actor that works for one account. */
export type AccountActor = Extract<ActorSpec, { readonly accountId: string }>;

/** What the thread provides for its actors. */
export type WorkerHost = Intersection<{ [Kind in WorkerKind]: Parameters<StartOf<Kind>>[1] }[WorkerKind]>;
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The type of a worker definition, for code that treats all kinds alike. */
export type AnyWorker = WorkerDefinition<
  ActorSpec,
  WorkerHost,
  string,
  string,
  Readonly<Record<string, CounterFamily>>
>;

export const workers: { readonly [Kind in WorkerKind]: Extract<Definition, { readonly kind: Kind }> } =
  Object.fromEntries(definitions.map((definition) => [definition.kind, definition])) as never;

export const allWorkers: readonly AnyWorker[] = definitions;
export const workerKinds: readonly WorkerKind[] = definitions.map(({ kind }) => kind);

export const workerOf = (kind: WorkerKind): AnyWorker => workers[kind];

export function startActor(spec: ActorSpec, host: WorkerHost): Promise<Actor> {
  return workerOf(spec.kind).start(spec, host);
}

/** The id of an actor, which decides its instance and its thread. */
export const actorIdOf = (kind: WorkerKind, key: string): string => `${kind}-${key}`;
export const idOfSpec = (spec: ActorSpec): string => actorIdOf(spec.kind, keyOfSpec(spec));
export const keyOfSpec = (spec: ActorSpec): string => workerOf(spec.kind).keyOf(spec);

/** The actors that run as long as the log exists, whatever versions are live. */
export function logActors(partitions: number): readonly ActorSpec[] {
  return allWorkers.flatMap(({ wanted }) => (wanted.by === 'log' ? wanted.specs(partitions) : []));
}

/** The actors that an account's live version needs. */
export function accountActors(config: LiveConfig): readonly AccountActor[] {
  return allWorkers.flatMap(({ wanted }) => (wanted.by === 'account' ? wanted.specs(config) : [])).filter(isOfAccount);
}

/** The actor that a consumer of an account belongs to; undefined if the consumer belongs to no actor of an account. */
export function accountActorOf(consumer: string, accountId: string): AccountActor | undefined {
  for (const { wanted, consumer: names } of allWorkers) {
    const key = wanted.by === 'account' ? names.keyOf(consumer) : undefined;
    if (key === undefined || wanted.by !== 'account') continue;
    const spec = wanted.specOf(key, accountId);
    if (isOfAccount(spec)) return spec;
  }
  return undefined;
}

/** Actors of accounts that have a stored position, apart from those with a live id. */
export async function rememberedActors(
  buckets: PlaceBuckets,
  isLive: (actorId: string) => boolean,
): Promise<readonly AccountActor[]> {
  const found: ActorSpec[] = [];
  for (const { kind, wanted } of allWorkers) {
    if (wanted.by !== 'account') continue;
    found.push(...((await wanted.remembered?.(buckets, (key) => isLive(actorIdOf(kind, key)))) ?? []));
  }
  return found.filter(isOfAccount);
}

/** The consumer and the messages in the log that belong to one actor, and how to remove its other traces. */
export function traceOf(spec: AccountActor): {
  readonly consumer: string;
  readonly subjects: readonly OwnSubject[];
  forget(buckets: PlaceBuckets): Promise<void>;
} {
  const { consumer, wanted } = workerOf(spec.kind);
  const key = keyOfSpec(spec);
  const isOwn = wanted.by === 'account';
  return {
    consumer: consumer.nameOf(key),
    subjects: isOwn ? wanted.leaves(key) : [],
    forget: async (buckets) => {
      if (isOwn) await wanted.forget?.(buckets, key);
    },
  };
}

const isOfAccount = (spec: ActorSpec): spec is AccountActor => 'accountId' in spec;

/** Counters and gauges of a kind of actor. */
export type CounterOf<Kind extends WorkerKind> =
  | (keyof (typeof workers)[Kind]['counters'] & string)
  | FamilyStat<(typeof workers)[Kind]['families']>;
export type GaugeOf<Kind extends WorkerKind> = keyof (typeof workers)[Kind]['gauges'] & string;
export type StatsOf<Kind extends WorkerKind> = Readonly<Record<CounterOf<Kind> | GaugeOf<Kind>, number>>;

/** The counts of one actor since it started. */
export type ActorFigures<Kind extends WorkerKind = WorkerKind> = {
  [Each in Kind]: { readonly kind: Each; readonly key: string; readonly stats: StatsOf<Each> };
}[Kind];
