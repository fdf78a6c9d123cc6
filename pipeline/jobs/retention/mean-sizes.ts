import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';

/** The mean size of the messages of a subject, estimated: the log only counts them. */
export type MeanSizes = {
  /**
   * The mean size, in bytes, of some of them between two sequences and of those sampled earlier; undefined without
   * samples.
   */
  look(subject: string, fromSeq: number, toSeq: number): Promise<number | undefined>;
  /** Forgets the subjects that are not among these. */
  keep(subjects: ReadonlySet<string>): void;
};

const samplesPerLook = 4;
/** Bytes read by the last check. */
const newShare = 0.5;

export function createMeanSizes(connection: LogConnection, stream: string): MeanSizes {
  const known = new Map<string, number>();
  return {
    async look(subject, fromSeq, toSeq) {
      let [messages, bytes] = [0, 0];
      for (let sample = 0; sample < samplesPerLook; sample += 1) {
        const seq = fromSeq + Math.floor(((toSeq - fromSeq) * sample) / samplesPerLook);
        const found = await readNext(connection, stream, subject, seq);
        if (found === undefined) break;
        messages += 1;
        bytes += found.data.length;
      }
      const before = known.get(subject);
      if (messages === 0) return before;
      const met = bytes / messages;
      const mean = before === undefined ? met : before + (met - before) * newShare;
      known.set(subject, mean);
      return mean;
    },
    keep(subjects) {
      for (const subject of known.keys()) if (!subjects.has(subject)) known.delete(subject);
    },
  };
}
