import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readLast, readNext } from '../../../shared/nats/messages/subject-log.ts';

/** The mean size of the messages of a subject, estimated: the log only counts them. */
export type MeanSizes = {
  /**
   * Samples messages between two sequences. Returns the mean size, in bytes, of these and of earlier samples; undefined
   * without samples.
   */
  look(subject: string, fromSeq: number, toSeq: number, samples?: number): Promise<number | undefined>;
  /** Forgets the subjects that are not among these. */
  keep(subjects: ReadonlySet<string>): void;
};

const usualSamples = 4;
/** All earlier samples together weigh as much as this number of new ones. */
const earlierSamples = 4;

export function createMeanSizes(connection: LogConnection, stream: string): MeanSizes {
  const known = new Map<string, number>();
  /** Where the messages of a subject are: others may lie before, behind and between them. */
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
        // In the middle of each part: the first message of a subject is read no more often than any other.
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
