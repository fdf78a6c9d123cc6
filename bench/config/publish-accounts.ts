import { connectLog } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { accountDocument } from './account-document.ts';
import type { BenchAccount } from './account-document.ts';

/** Puts accounts where gateways and pipelines find them, as the control plane does when it publishes. */
export async function publishAccounts(natsUrl: string, accounts: readonly BenchAccount[], replicas = 1): Promise<void> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  try {
    const { config } = await openBuckets(connection, replicas);
    for (const account of accounts) {
      await config.put(accountKey(account.accountId), Buffer.from(JSON.stringify(accountDocument(account))));
    }
  } finally {
    await connection.close();
  }
}
