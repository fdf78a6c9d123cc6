import { encodeJson } from '../../runtime/json.ts';
import type { AccountConfig } from './account-config.ts';

/*
 * What gateways run for one account: value of `account.<id>` in the GATEWAY_CONFIG bucket. It is an account's configuration
 * with the collections that gateways read, and begins with the revision of the whole one in CONFIG, so that gateways and
 * pipelines report the same revisions.
 */

/** The bytes of a gateway's configuration; the same configuration gives the same bytes. */
export function encodeGatewayConfig(config: AccountConfig, revision: number): Uint8Array {
  const { format, accountId, versionId, versionNumber, publishedAt, sourceKeys, collections } = config;
  return encodeJson({
    revision,
    format,
    accountId,
    versionId,
    versionNumber,
    publishedAt,
    sourceKeys,
    collections,
  });
}

const revisionPattern = /^\{"revision":(\d{1,16}),/;
const headBytes = 32;

/** The revision of the account's configuration that a gateway's was made of, without reading the rest; 0 where it names none. */
export function gatewayConfigRevision(bytes: Uint8Array): number {
  const [, revision] = revisionPattern.exec(Buffer.from(bytes.subarray(0, headBytes)).toString('latin1')) ?? [];
  return Number(revision ?? 0);
}

/** For whom a gateway's configuration is signed: a signature of the whole configuration is not one of this. */
export const gatewaySignee = (accountId: string): string => `gateway.${accountId}`;
