import type { AccountConfig } from '../contracts/config/account-config.ts';
import { accountKey } from '../contracts/subjects.ts';
import { gatewayConfigOf } from '../collections/gateway-collections.ts';
import type { Buckets } from '../nats/buckets/open-buckets.ts';

/** Publishes an account's configuration to pipelines and gateways, without a signature. Returns its revision. */
export async function putAccountConfig(
  { config, gatewayConfig }: Pick<Buckets, 'config' | 'gatewayConfig'>,
  document: AccountConfig,
): Promise<number> {
  const key = accountKey(document.accountId);
  const revision = await config.put(key, Buffer.from(JSON.stringify(document)));
  await gatewayConfig.put(key, gatewayConfigOf(document, revision));
  return revision;
}
