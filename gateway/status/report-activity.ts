import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import {
  decodeSourceRecord,
  encodeSourceRecord,
  joinSourceRecords,
  newestInvalid,
  pastSourceKey,
  sourceKey,
} from '../../shared/contracts/source-activity.ts';
import type { InvalidEvent, SourceCounts } from '../../shared/contracts/source-activity.ts';
import { every } from '../../shared/runtime/every.ts';
import type { PublishedSources, SourceActivity } from '../ingest/published-sources.ts';
import { SourceWindow, hourOf } from './source-window.ts';

const everyMs = 2_000;
/** Writes in flight at a time, so that a thousand sources that wake up together do not flood the log. */
const writesAtOnce = 16;

export type ActivityReport = {
  readonly bucket: Bucket;
  readonly instanceId: string;
  readonly sources: Pick<PublishedSources, 'activities' | 'forgetUnpublished'>;
  /** Hours for which hourly counts are kept. */
  readonly hoursKept: number;
  readonly onError: (error: unknown) => void;
};

/**
 * Reports to the HEALTH bucket when each source was last used, and the outcomes of its events. `stop` writes what is
 * not reported yet; a process that is killed loses the last two seconds.
 */
export function reportActivity({ bucket, instanceId, sources, hoursKept, onError }: ActivityReport): {
  stop(): Promise<void>;
} {
  const reported = new Map<string, ReportedSource>();
  let writing: Promise<void> | undefined;
  const write = async (activity: SourceActivity): Promise<void> => {
    const { sourceId } = activity;
    const known =
      reported.get(sourceId) ?? (await ReportedSource.open(bucket, sourceKey(sourceId, instanceId), hoursKept));
    reported.set(sourceId, known);
    await known.write(activity);
  };
  const isDue = (activity: SourceActivity): boolean =>
    reported.get(activity.sourceId)?.isBehind(activity) ?? activity.lastTriggeredAtMs > 0;
  const writeAll = async (): Promise<void> => {
    const due = [...sources.activities].filter(isDue);
    for (let at = 0; at < due.length; at += writesAtOnce) {
      await Promise.all(due.slice(at, at + writesAtOnce).map(write));
    }
    const wasDue = new Set(due);
    // A source is forgotten only in a round that has nothing to report of it: by then, requests that began before it
    // was unpublished are answered.
    const forgotten = sources.forgetUnpublished((activity) => !wasDue.has(activity) && !isDue(activity));
    for (const sourceId of forgotten) reported.delete(sourceId);
  };
  const run = (): Promise<void> =>
    (writing ??= writeAll()
      .catch(onError)
      .finally(() => {
        writing = undefined;
      }));
  const writings = every(everyMs, run);
  return {
    async stop() {
      await writings.stop();
      await run();
    },
  };
}

const nothing: SourceCounts = { stored: 0, test: 0, lost: 0, invalid: 0, limited: 0, forbidden: 0 };

/** What this instance has reported of one source. */
class ReportedSource {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #window: SourceWindow;
  /** Hours before this one are in the past entry. */
  #pastUntil: number;
  /** The source's counts that the window already contains. */
  #counted = nothing;
  #writtenAtMs = 0;
  #lastInvalid: InvalidEvent | null;
  /** Whether the window holds counts that are not written yet. */
  #isDirty = false;

  /** Continues from what this instance wrote to the bucket before it was restarted. */
  static async open(bucket: Bucket, key: string, hoursKept: number): Promise<ReportedSource> {
    const [recent, past] = await Promise.all([bucket.get(key), bucket.get(pastSourceKey(key))]);
    const before = decodeSourceRecord(past?.value);
    const record = joinSourceRecords(before, decodeSourceRecord(recent?.value) ?? nothingYet);
    const lastOfPast = before?.hours.at(-1)?.[0] ?? -Infinity;
    return new ReportedSource(bucket, key, new SourceWindow(hoursKept, record), {
      pastUntil: lastOfPast + 1,
      lastInvalid: record.lastInvalid,
    });
  }

  private constructor(
    bucket: Bucket,
    key: string,
    window: SourceWindow,
    { pastUntil, lastInvalid }: { readonly pastUntil: number; readonly lastInvalid: InvalidEvent | null },
  ) {
    this.#bucket = bucket;
    this.#key = key;
    this.#window = window;
    this.#pastUntil = pastUntil;
    this.#lastInvalid = lastInvalid;
  }

  isBehind(activity: SourceActivity): boolean {
    if (this.#isDirty || activity.lastTriggeredAtMs > this.#writtenAtMs) return true;
    const counts = countsOf(activity);
    return Object.entries(counts).some(([name, count]) => count !== this.#counted[name as keyof SourceCounts]);
  }

  async write(activity: SourceActivity): Promise<void> {
    const { lastTriggeredAtMs } = activity;
    const counts = countsOf(activity);
    const nowMs = Date.now();
    this.#window.add(minus(counts, this.#counted), nowMs);
    this.#counted = counts;
    this.#isDirty = true;
    await this.#writePast(hourOf(nowMs), lastTriggeredAtMs);
    this.#lastInvalid = newestInvalid([activity.tally.lastInvalid, activity.testTally.lastInvalid, this.#lastInvalid]);
    const lastInvalid = this.#lastInvalid;
    const record = { lastTriggeredAt: lastTriggeredAtMs, minutes: this.#window.minutes, lastInvalid };
    await this.#bucket.put(
      this.#key,
      encodeSourceRecord({ ...record, hours: this.#window.hoursFrom(this.#pastUntil) }),
    );
    this.#writtenAtMs = lastTriggeredAtMs;
    this.#isDirty = false;
  }

  /** Moves finished hours to the past entry. */
  async #writePast(hour: number, lastTriggeredAt: number): Promise<void> {
    if (this.#window.hoursFrom(this.#pastUntil).every(([one]) => one >= hour)) return;
    const hours = this.#window.hoursBefore(hour);
    await this.#bucket.put(
      pastSourceKey(this.#key),
      encodeSourceRecord({ lastTriggeredAt, minutes: [], hours, lastInvalid: null }),
    );
    this.#pastUntil = hour;
  }
}

const nothingYet = { lastTriggeredAt: null, minutes: [], hours: [], lastInvalid: null } as const;

function countsOf({ tally, testTally }: SourceActivity): SourceCounts {
  return {
    stored: tally.stored,
    test: testTally.stored,
    lost: tally.lost + testTally.lost,
    invalid: tally.invalid + testTally.invalid,
    // Events over the source's limits and events refused by backpressure were both answered 429.
    limited: tally.limited + testTally.limited + tally.backpressure + testTally.backpressure,
    forbidden: tally.forbidden + testTally.forbidden,
  };
}

function minus(counts: SourceCounts, before: SourceCounts): SourceCounts {
  return {
    stored: counts.stored - before.stored,
    test: counts.test - before.test,
    lost: counts.lost - before.lost,
    invalid: counts.invalid - before.invalid,
    limited: counts.limited - before.limited,
    forbidden: counts.forbidden - before.forbidden,
  };
}
