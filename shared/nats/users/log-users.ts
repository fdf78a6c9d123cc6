import { buckets, streams } from '../streams/topology.ts';

/** The account of the nats-servers that owns the streams. */
export const logAccount = 'SLUICE';

/** A user of the nats-servers, with its rights. */
export type LogUser = {
  /** The value of NATS_USER. */
  readonly name: string;
  /** The environment variable from which the nats-server reads the user's password. */
  readonly passwordVariable: string;
  /**
   * The user's account. The log sends an answer into the account of the client that asked; only in the log's own
   * account can a stream store the answer.
   */
  readonly account: string;
  /** A sentence about the service that uses this login, for readers of the servers' configuration. */
  readonly whose: string;
  /** Undefined: the user may do everything. */
  readonly rights: LogRights | undefined;
};

/** Subjects, with wildcards. The server refuses all others. */
export type LogRights = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

type Stream = (typeof streams)[keyof typeof streams];
type Bucket = (typeof buckets)[keyof typeof buckets];

const api = (...names: readonly string[]): string[] => names.map((name) => `$JS.API.${name}`);
const bucketStream = (bucket: Bucket): string => `KV_${bucket}`;

/** Rights to read the limits, sizes and subject names of every stream, but no messages. */
const looks = api('INFO', 'STREAM.INFO.*');

const consumersOf = (stream: string): string[] => [
  ...api(`CONSUMER.CREATE.${stream}`, `CONSUMER.CREATE.${stream}.>`, `CONSUMER.DELETE.${stream}.*`),
  ...api(`CONSUMER.INFO.${stream}.*`),
  // The flow control of a consumer with a delivery subject.
  `$JS.FC.${stream}.>`,
];

const lists = (stream: string): string[] => api(`CONSUMER.LIST.${stream}`, `CONSUMER.INFO.${stream}.*`);

/** Rights to read single messages, by sequence or subject. */
const gets = (stream: string): string[] =>
  api(`STREAM.MSG.GET.${stream}`, `DIRECT.GET.${stream}`, `DIRECT.GET.${stream}.>`);

/**
 * Rights to create consumers and to read their messages. The second form of an ack has domain and account before the
 * stream.
 */
const reads = (stream: Stream): string[] => [
  ...consumersOf(stream),
  ...gets(stream),
  ...api(`CONSUMER.LIST.${stream}`, `CONSUMER.RESET.${stream}.*`, `CONSUMER.MSG.NEXT.${stream}.*`),
  `$JS.ACK.${stream}.>`,
  `$JS.ACK.*.*.${stream}.>`,
];

const follows = (bucket: Bucket): string[] => [...consumersOf(bucketStream(bucket)), ...gets(bucketStream(bucket))];
const writes = (bucket: Bucket, keys = '>'): string => `$KV.${bucket}.${keys}`;
const makes = (names: readonly string[]): string[] =>
  names.flatMap((name) => api(`STREAM.CREATE.${name}`, `STREAM.UPDATE.${name}`));
const purges = (stream: Stream): string[] => api(`STREAM.PURGE.${stream}`);
const deletes = (stream: Stream): string[] => api(`STREAM.MSG.DELETE.${stream}`);

/** Streams that no service may purge. */
const unpurged: ReadonlySet<Stream> = new Set([streams.canary, streams.erasures, streams.withdrawals]);
const everyStream: readonly Stream[] = Object.values(streams);
const everyBucket: readonly Bucket[] = Object.values(buckets);
/** Buckets written by the control plane alone: no other service may create or change them. */
const ofControlPlanes: ReadonlySet<Bucket> = new Set([buckets.config, buckets.gatewayConfig]);
const bucketsOfPipelines = everyBucket.filter((bucket) => !ofControlPlanes.has(bucket));

function serviceUser(service: string, whose: string, publish: readonly string[]): LogUser {
  const name = `sluice-${service}`;
  return {
    name,
    passwordVariable: `NATS_${service.replaceAll('-', '_').toUpperCase()}_PASSWORD`,
    account: `${logAccount}_${service.replaceAll('-', '_').toUpperCase()}`,
    whose,
    // No user receives another's replies: inboxes begin with the user's name.
    rights: { publish: [...new Set([...looks, ...publish])].toSorted(), subscribe: [`_INBOX.${name}.>`] },
  };
}

/**
 * Puts a user into the account of the streams. A pull from another account stays open after its reader has gone, until
 * it expires; in a cluster each handover of a consumer would then take three seconds.
 */
const ofLogAccount = (user: LogUser): LogUser => ({ ...user, account: logAccount });

/**
 * The rights of each service on the log. The gateway faces the internet: it can add events and read the configuration
 * of sources, but it can neither read, change nor remove stored events. Only the operator can delete a stream.
 */
export const logUsers = {
  gateway: serviceUser('gateway', 'Gateways: they add events, and follow the configuration', [
    'ingest.*',
    'canary.*',
    // The configuration of gateways, which contains sources but no destinations.
    ...follows(buckets.gatewayConfig),
    // Its lease.
    writes(buckets.leases, 'gateway.*'),
    // The progress of the resolvers of partitions.
    ...api(`CONSUMER.INFO.${streams.ingest}.*`),
    // From LEASES the gateway reads which accounts it has to hold back for pipelines, and the bytes in the queue of
    // each account. To HEALTH it writes the outcomes of its sources' events, and reads them after a restart.
    ...follows(buckets.leases),
    writes(buckets.health, 'source.>'),
    ...gets(bucketStream(buckets.health)),
  ]),
  pipeline: ofLogAccount(
    serviceUser('pipeline', 'Pipelines: they read events, store their outcomes, and remove finished messages', [
      // The fetched content of a notice becomes an event.
      'ingest.*',
      'events.*.*',
      'retry.*.*',
      'dead.*',
      'dead-ingest.*',
      'quarantine.*.*.*',
      'deduplication.*',
      'withdrawals.*',
      ...everyStream
        .filter((stream) => !unpurged.has(stream))
        .flatMap((stream) => [...reads(stream), ...purges(stream)]),
      ...reads(streams.erasures),
      ...reads(streams.withdrawals),
      ...[streams.retry, streams.deadLetters, streams.ingestDeadLetters, streams.deduplication].flatMap(deletes),
      ...makes([...everyStream, ...bucketsOfPipelines.map(bucketStream)]),
      ...everyBucket.flatMap(follows),
      ...bucketsOfPipelines.map((bucket) => writes(bucket)),
    ]),
  ),
  controlPlane: serviceUser(
    'control-plane',
    'Control planes: they publish configuration, show the log, erase visitors, and delete dead letters',
    [
      // Impressions of experiments are events.
      'ingest.*',
      'erasures.*',
      // What a visitor has denied, after a merge.
      'withdrawals.*',
      ...makes([...everyStream, ...everyBucket.map(bucketStream)]),
      ...everyBucket.flatMap(follows),
      ...[buckets.config, buckets.gatewayConfig, buckets.replays, buckets.tokens].map((bucket) => writes(bucket)),
      ...consumersOf(streams.events),
      ...consumersOf(streams.deadLetters),
      ...consumersOf(streams.quarantine),
      ...consumersOf(streams.erasures),
      // Listed dead letters and quarantined events are checked against erasures and withdrawals.
      ...consumersOf(streams.withdrawals),
      ...[streams.deadLetters, streams.quarantine, streams.erasures, streams.withdrawals].flatMap((stream) =>
        api(`CONSUMER.MSG.NEXT.${stream}.*`),
      ),
      // Only the answer of a stream's leader proves that no notice is left.
      ...[streams.erasures, streams.withdrawals].flatMap((stream) => api(`STREAM.MSG.GET.${stream}`)),
      ...everyStream.flatMap(lists),
      // To read the age of the oldest event.
      ...gets(streams.ingest),
      ...gets(streams.events),
      ...gets(streams.retry),
      ...gets(streams.deadLetters),
      ...deletes(streams.deadLetters),
      ...gets(streams.quarantine),
      ...deletes(streams.quarantine),
      ...purges(streams.deadLetters),
    ],
  ),
  doctor: serviceUser('doctor', 'The doctor and upgrade-check: they read, and change nothing', [
    ...everyStream.flatMap(lists),
    ...follows(buckets.leases),
    ...follows(buckets.health),
  ]),
  operator: {
    name: 'sluice',
    passwordVariable: 'NATS_PASSWORD',
    account: logAccount,
    whose: 'The operator, with the nats command, and services without a user of their own',
    rights: undefined,
  },
} as const satisfies Readonly<Record<string, LogUser>>;

export type LogUserName = keyof typeof logUsers;
