import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readLast, readNext } from '../../../shared/nats/messages/subject-log.ts';

/** Estimates the mean size of the messages of a subject: the log only counts them. */
export type MeanSizes = {
  /**
   * Samples messages of a subject between two sequences. Returns the mean size, in bytes, of these and earlier samples;
   * undefined if there are no samples.
   */
  look(subject: string, fromSeq: number, toSeq: number, samples?: number): Promise<number | undefined>;
  /** Forgets all subjects except these. */
  keep(subjects: ReadonlySet<string>): void;
};

const usualSamples = 4;
/** All earlier samples together have the weight of this number of new samples. */
const earlierSamples = 4;

export function createMeanSizes(connection: LogConnection, stream: string): MeanSizes {
  const known = new Map<string, number>();
  /**
   * The range of sequences that contains the messages of a subject; messages of other subjects may lie before it, after
   * it and in it.
   */
  const spanOf = async (
    subject: string,
    fromSeq: number,
    toSeq: number,
  ): Promise<{ readonly first: number; readonly last: number } | undefined> => {
    const [first, last] = [
      await readNext(connection, stream, subject, fromSeq),
      await readLast(connection, stream, subject),
    ];
    if (first === undefined || last === undefined) return undefined;
    return { first: first.seq, last: Math.max(first.seq, Math.min(last.seq, toSeq - 1)) };
  };
  return {
    async look(subject, fromSeq, toSeq, samples = usualSamples) {
      const span = await spanOf(subject, fromSeq, toSeq);
      if (span === undefined) return known.get(subject);
      let [messages, bytes] = [0, 0];
      for (let sample = 0; sample < samples; sample += 1) {
        // Reads in the middle of each part of the range, so that the first message of the subject is not sampled more
        // often than others.
        const seq = span.first + Math.floor(((span.last - span.first) * (sample + 0.5)) / samples);
        const found = await readNext(connection, stream, subject, seq);
        if (found === undefined) break;
        messages += 1;
        bytes += found.data.length;
      }
      const before = known.get(subject);
      if (messages === 0) return before;
      const met = bytes / messages;
      const mean = before === undefined ? met : before + ((met - before) * messages) / (messages + earlierSamples);
      known.set(subject, mean);
      return mean;
    },
    keep(subjects) {
      for (const subject of known.keys()) if (!subjects.has(subject)) known.delete(subject);
    },
  };
}
