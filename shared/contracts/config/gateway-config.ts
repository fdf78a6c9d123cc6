import { encodeJson } from '../../runtime/json.ts';
import type { AccountConfig } from './account-config.ts';

/*
 * The configuration of one account for gateways: value of `account.<id>` in the GATEWAY_CONFIG bucket. It contains the
 * collections that gateways read, and begins with the revision of the account's configuration in CONFIG, so that
 * gateways and pipelines report the same revisions.
 */

/** Encodes a gateway's configuration. Equal configurations have equal bytes. */
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

/** Reads only the revision of the account's configuration in CONFIG; 0 if there is none. */
export function gatewayConfigRevision(bytes: Uint8Array): number {
  const [, revision] = revisionPattern.exec(Buffer.from(bytes.subarray(0, headBytes)).toString('latin1')) ?? [];
  return Number(revision ?? 0);
}

/** The name that a gateway configuration is signed for; a signature for the plain account id is not valid there. */
export const gatewaySignee = (accountId: string): string => `gateway.${accountId}`;
