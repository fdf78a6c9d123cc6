import type { ConsumerReport, LogReport, SettingDifference, StreamReport } from '../nats/monitor/inspect-log.ts';
import { streams } from '../nats/streams/topology.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';
import type { Durability } from '../nats/monitor/read-durability.ts';
import { judgeNatsServer } from './judge-versions.ts';
import type { LogServer } from '../nats/monitor/read-log-servers.ts';
import type { LossNote } from '../nats/messages/lost-messages.ts';
import type { StreamLoss } from '../nats/streams/stream-progress.ts';

/** Settings that a service corrects by itself when it starts. */
const setAtStart = new Set(['max_bytes', 'num_replicas']);
/** Settings of streams and consumers. If one of them is wrong, events may be lost, or not received. */
const vital = new Set(['retention', 'discard', 'storage', 'subjects', 'ack_policy', 'max_deliver']);

/** Compares streams, buckets and consumers with the settings that the code requires. */
export function judgeLog(report: LogReport): Finding[] {
  const missing = report.streams.filter(({ differences }) => differences === undefined).map(({ name }) => name);
  const findings = report.streams.flatMap(judgeStream);
  if (missing.length > 0) {
    const advice = 'expected before the first start, which creates them; alarming if the log had them before';
    findings.push(warn('streams', `missing: ${missing.join(', ')}`, advice));
  }
  findings.push(...report.consumers.flatMap(judgeConsumer), ...judgeStorage(report));
  if (findings.length > 0) return findings;
  const { streams, consumers } = report;
  return [ok('streams', `${streams.length} streams and ${consumers.length} consumers are configured correctly`)];
}

function judgeStream(stream: StreamReport): Finding[] {
  const { name, differences, bytes, bytesMax, copies, copiesCurrent } = stream;
  if (differences === undefined) return [];
  const about = `stream ${name}`;
  const findings = differences.map((difference) => judgeDifference(about, 'stream', name, difference));
  if (bytesMax > 0 && bytes > bytesMax * 0.8) {
    const detail = `${Math.round((bytes / bytesMax) * 100)} % of its ${bytesMax} bytes are used`;
    findings.push(warn(about, detail, whenFull(stream)));
  }
  if (copiesCurrent !== undefined && copiesCurrent < copies) {
    const detail = `${copiesCurrent} of ${copies} copies are up to date`;
    findings.push(warn(about, detail, 'check the nats-servers: one is down or catching up'));
  }
  return findings;
}

/** The variables that set the sizes of streams; the other sizes are fixed. */
const sizeVariables: Readonly<Record<string, string>> = {
  [streams.ingest]: 'LOG_INGEST_BYTES_MAX',
  [streams.events]: 'LOG_EVENTS_BYTES_MAX',
  [streams.retry]: 'LOG_RETRY_BYTES_MAX',
  [streams.deadLetters]: 'LOG_DEAD_LETTERS_BYTES_MAX',
  [streams.ingestDeadLetters]: 'LOG_INGEST_DEAD_LETTERS_BYTES_MAX',
  [streams.quarantine]: 'LOG_INGEST_DEAD_LETTERS_BYTES_MAX',
  [streams.deduplication]: 'LOG_DEDUPLICATION_BYTES_MAX',
};

/** What a stream does when it is full, and what to do before. */
function whenFull({ name, removesOldest }: StreamReport): string {
  const variable = sizeVariables[name];
  const raise = variable === undefined ? 'its size is fixed' : `raise ${variable}`;
  if (name === streams.deduplication)
    return `when full, it drops the oldest checkpoints, and resolvers read EVENTS when they start: ${raise}`;
  if (removesOldest) return `when full, it removes its oldest messages: ${raise}`;
  if (variable === undefined) return `when full, it refuses messages: ${raise}`;
  return `when full, it refuses messages: check for a destination that lags, or ${raise}`;
}

function judgeConsumer({ stream, name, differences, ackPending, ackPendingMax }: ConsumerReport): Finding[] {
  const about = `consumer ${name} of ${stream}`;
  const findings = differences.map((difference) => judgeDifference(about, 'consumer', `${stream} ${name}`, difference));
  if (ackPendingMax > 0 && ackPending >= ackPendingMax) {
    const detail = `${ackPending} messages are unacknowledged, which is its limit: it delivers no more until some are acknowledged`;
    findings.push(warn(about, detail, 'check its reader: a destination hangs, or no pipeline runs'));
  }
  return findings;
}

function judgeDifference(about: string, kind: string, name: string, difference: SettingDifference): Finding {
  const { setting, wanted, found } = difference;
  const detail = `${setting} is ${found}, not ${wanted}`;
  if (setting === 'metadata') {
    return warn(about, detail, 'the partition count is fixed when the stream is created: set LOG_PARTITIONS to it');
  }
  if (setAtStart.has(setting)) return warn(about, detail, 'the next service that starts with these settings sets it');
  const advice = `change it (nats ${kind} edit ${name}), or remove it when it is empty and let a service create it`;
  return vital.has(setting) ? fail(about, detail, advice) : warn(about, detail, advice);
}

function judgeStorage({ streams, storageBytesMax }: LogReport): Finding[] {
  const wanted = streams.reduce((sum, { bytesMax, copies }) => sum + Math.max(0, bytesMax) * copies, 0);
  if (storageBytesMax === undefined || wanted <= storageBytesMax) return [];
  const detail = `the streams may take ${wanted} bytes, the account of NATS only ${storageBytesMax}`;
  return [fail('log storage', detail, 'raise the limit of the account, or lower LOG_*_BYTES_MAX')];
}

/**
 * `messages` is the number of stored messages with accepted events that no resolver could read. These events belong to
 * no destination, so the configuration interface, which lists dead letters by destination, does not show them.
 */
export function judgeIngestDeadLetters(messages: number): Finding {
  const about = 'unreadable events';
  if (messages === 0) return ok(about, 'none are kept');
  const detail = `${messages} messages of accepted events that no resolver could read are kept in ${streams.ingestDeadLetters}`;
  const see = 'npm run dead-letters -- list ingest';
  const advice = `read them (${see}): the runbook, SluiceIngestDeadLetters, describes the causes and how to remove them`;
  return warn(about, detail, advice);
}

/** Warns of servers that do not sync every write: they are for trials only, since they may lose acknowledged events. */
export function judgeDurability(durability: Durability): Finding {
  const about = 'durability';
  switch (durability.mode) {
    case 'fsync':
      return ok(about, durability.detail);
    case 'interval':
      return warn(about, durability.detail, 'set jetstream { sync_interval: always } on every nats-server');
    case 'unknown':
      return warn(
        about,
        `unknown: ${durability.detail}`,
        'set NATS_MONITOR_URL to the monitor address, http://host:8222, of every nats-server',
      );
  }
}

/** Judges a nats-server by its monitor port: its version, its health and its storage limit. */
export function judgeLogServer(server: LogServer): Finding[] {
  return [judgeNatsServer(server.version, server.name), ...judgeHealth(server), ...judgeStorageLimit(server)];
}

/**
 * Whether a nats-server that reports this problem has to be restarted. Since 2.14 a stream accepts no writes after a
 * disk error, such as a full disk, and a node of a cluster disables JetStream; neither recovers by itself.
 */
export const needsRestart = (complaint: string): boolean => /write error|JetStream not enabled/i.test(complaint);

function judgeHealth({ name, complaint }: LogServer): Finding[] {
  if (complaint === undefined) return [];
  const advice = needsRestart(complaint)
    ? 'make room on its disk, then restart that nats-server, because it does not resume writing by itself'
    : 'wait while it catches up; check its log if it does not';
  return [fail(`health of ${name}`, complaint, advice)];
}

function judgeStorageLimit({ name, storage }: LogServer): Finding[] {
  if (storage === undefined) return [];
  const { limitBytes, reservedBytes, isLimitGiven } = storage;
  const about = `storage of ${name}`;
  if (limitBytes < reservedBytes) {
    const detail = `its streams may take ${reservedBytes} bytes together, but the server stores ${limitBytes} at most`;
    return [fail(about, detail, 'raise jetstream { max_file_store }, or lower LOG_*_BYTES_MAX; restart the server')];
  }
  if (!isLimitGiven) {
    const detail = `the limit of ${limitBytes} bytes is probably the default of nats-server: three quarters of the free space at its start, too little if it starts on a full disk`;
    return [warn(about, detail, 'set jetstream { max_file_store } to three quarters of the disk, in whole megabytes')];
  }
  return [ok(about, `limit ${gibibytes(limitBytes)}; its streams may take ${gibibytes(reservedBytes)}`)];
}

const about = 'lost messages';
const advice =
  'the runbook, SluiceLogLostMessages, describes how to identify and recover them; check the disks of nats-server';
const namedMax = 20;

/** Acknowledged messages that the log lost, as its servers report them, and as readers found them in the last month. */
export function judgeLosses(byServer: ReadonlyMap<string, StreamLoss>, noticed: readonly LossNote[]): Finding[] {
  const findings: Finding[] = [];
  for (const [stream, { bytes, seqs }] of byServer) {
    if (bytes === 0 && seqs.length === 0) continue;
    const which = seqs.length === 0 ? '' : `: sequences ${list(seqs)}`;
    const detail = `nats-server has found ${bytes} bytes of ${stream} damaged or missing since it started${which}`;
    findings.push(fail(about, detail, advice));
  }
  for (const stream of new Set(noticed.map((note) => note.stream))) {
    const notes = noticed.filter((note) => note.stream === stream);
    const lastMs = Math.max(...notes.map(({ noticedAtMs }) => noticedAtMs));
    const subjects = list([...new Set(notes.map(({ subject }) => subject))]);
    const seqs = list(notes.map(({ seq }) => seq));
    const detail = `sequences ${seqs} of ${stream} (${subjects}) were missing, last noticed at ${new Date(lastMs).toISOString()}`;
    findings.push(fail(about, detail, advice));
  }
  return findings.length === 0 ? [ok(about, 'none are known')] : findings;
}

function list(values: readonly (string | number)[]): string {
  const more = values.length > namedMax ? ` and ${values.length - namedMax} more` : '';
  return values.slice(0, namedMax).join(', ') + more;
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
