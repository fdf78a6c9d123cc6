import type { ConsumerReport, LogReport, SettingDifference, StreamReport } from '../nats/monitor/inspect-log.ts';
import { streams as streamNames } from '../nats/streams/topology.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

/** What a service sets right by itself when it starts. */
const setAtStart = new Set(['max_bytes', 'num_replicas']);
/** A stream that has one of these otherwise may lose events, or not get them. */
const vital = new Set(['retention', 'discard', 'storage', 'subjects', 'ack_policy', 'max_deliver']);

/** Streams, buckets and consumers beside what the code wants of them. */
export function judgeLog(report: LogReport): Finding[] {
  const missing = report.streams.filter(({ differences }) => differences === undefined).map(({ name }) => name);
  const findings = report.streams.flatMap(judgeStream);
  if (missing.length > 0) {
    const advice = 'right before the first start, which makes them; alarming on a log that had them';
    findings.push(warn('streams', `not there: ${missing.join(', ')}`, advice));
  }
  findings.push(...report.consumers.flatMap(judgeConsumer), ...judgeStorage(report));
  if (findings.length > 0) return findings;
  const { streams, consumers } = report;
  return [ok('streams', `${streams.length} streams and ${consumers.length} consumers are as the code wants them`)];
}

function judgeStream({ name, differences, bytes, bytesMax, copies, copiesCurrent }: StreamReport): Finding[] {
  if (differences === undefined) return [];
  const about = `stream ${name}`;
  const findings = differences.map((difference) => judgeDifference(about, 'stream', name, difference));
  if (bytesMax > 0 && bytes > bytesMax * 0.8) {
    const detail = `${Math.round((bytes / bytesMax) * 100)} % of its ${bytesMax} bytes are used`;
    const advice =
      name === streamNames.deduplication
        ? 'when full it forgets the oldest, and a start reads EVENTS instead: raise LOG_DEDUPLICATION_BYTES_MAX'
        : 'it refuses when full: look for a destination that lags, or raise LOG_*_BYTES_MAX';
    findings.push(warn(about, detail, advice));
  }
  if (copiesCurrent !== undefined && copiesCurrent < copies) {
    const detail = `${copiesCurrent} of ${copies} copies are up to date`;
    findings.push(warn(about, detail, 'look at the nats-servers: one is down, or catching up'));
  }
  return findings;
}

function judgeConsumer({ stream, name, differences, ackPending, ackPendingMax }: ConsumerReport): Finding[] {
  const about = `consumer ${name} of ${stream}`;
  const findings = differences.map((difference) => judgeDifference(about, 'consumer', `${stream} ${name}`, difference));
  if (ackPendingMax > 0 && ackPending >= ackPendingMax) {
    const detail = `${ackPending} messages are given out, which is all it may: nothing more comes until some are finished`;
    findings.push(warn(about, detail, 'look at what reads it: a destination that hangs, or a pipeline that is gone'));
  }
  return findings;
}

function judgeDifference(about: string, kind: string, name: string, difference: SettingDifference): Finding {
  const { setting, wanted, found } = difference;
  const detail = `${setting} is ${found}, not ${wanted}`;
  if (setting === 'metadata') {
    return warn(about, detail, 'the partitions are fixed when the stream is made: set LOG_PARTITIONS to what it has');
  }
  if (setAtStart.has(setting)) return warn(about, detail, 'the next service that starts with these settings sets it');
  const advice = `change it (nats ${kind} edit ${name}), or remove it when it is empty and let a service make it`;
  return vital.has(setting) ? fail(about, detail, advice) : warn(about, detail, advice);
}

function judgeStorage({ streams, storageBytesMax }: LogReport): Finding[] {
  const wanted = streams.reduce((sum, { bytesMax, copies }) => sum + Math.max(0, bytesMax) * copies, 0);
  if (storageBytesMax === undefined || wanted <= storageBytesMax) return [];
  const detail = `the streams may take ${wanted} bytes, the account of NATS only ${storageBytesMax}`;
  return [fail('log storage', detail, 'raise the account, or lower LOG_*_BYTES_MAX')];
}
