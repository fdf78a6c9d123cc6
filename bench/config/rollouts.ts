import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { decodeReport } from '../../shared/contracts/process-report.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import { accountDocument } from './account-document.ts';
import type { BenchAccount } from './account-document.ts';

export type Rollouts = {
  /**
   * Publishes an account's configuration. Resolves with the time in ms until every process reported that it runs this
   * configuration.
   */
  publish(account: BenchAccount): Promise<number>;
  close(): Promise<void>;
};

/**
 * Publishes as the control plane does, and learns from the leases in the log which revision each process runs. A
 * process reports a new revision there immediately, at no cost to the measurement. Its metrics page lists a thousand
 * destinations, so reading that page would take longer than the configuration change.
 */
export async function openRollouts(natsUrl: string, processes: number, deadlineMs: number): Promise<Rollouts> {
  const connection = await connectLog({ url: natsUrl, name: 'bench-rollouts' });
  const buckets = await openBuckets(connection, 1);
  const { leases } = buckets;
  const revisions = new Map<string, number>();
  let noteChange: () => void = () => undefined;
  const watch = await leases.watch({
    onEntry: ({ key, value }) => {
      const report = decodeReport(value);
      if (report === undefined) revisions.delete(key);
      else revisions.set(key, report.revision);
      noteChange();
    },
  });
  const isLive = (revision: number): boolean =>
    revisions.size === processes && [...revisions.values()].every((runs) => runs >= revision);
  return {
    async publish(account) {
      const document = accountDocument(account);
      const startedMs = performance.now();
      const revision = await putAccountConfig(buckets, document);
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => {
          const said = [...revisions].map(([key, runs]) => `${key} runs ${runs}`).join(', ');
          reject(new Error(`waiting for revision ${revision} to be live in ${processes} processes: ${said}`));
        }, deadlineMs);
        noteChange = () => {
          if (!isLive(revision)) return;
          clearTimeout(late);
          resolve();
        };
        noteChange();
      });
      return performance.now() - startedMs;
    },
    async close() {
      watch.stop();
      await connection.close();
    },
  };
}
