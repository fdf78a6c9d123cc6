import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { gatewayConfigOf } from '../../shared/collections/gateway-collections.ts';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { gatewaySignee } from '../../shared/contracts/config/gateway-config.ts';
import { withoutSignature } from '../../shared/contracts/config/signed-config.ts';
import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { PublishError } from '../../shared/nats/publish/publisher.ts';
import type { Bucket, BucketEntry } from '../../shared/nats/buckets/bucket.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { readAccountDocument } from './account-document.ts';

/** An account cannot be published, although the log works. */
export class AccountPublishError extends Error {
  readonly code = 'publish_failed';
}

export type PublishedAccount = {
  /** Revision of CONFIG that contains the account's configuration. */
  readonly revision: number;
  /** False if both buckets already had it. */
  readonly written: boolean;
  /** Size of the account's documents in both buckets, written or not. */
  readonly bytes: number;
};

export type AccountPublisherOptions = {
  readonly storage: Storage;
  /** Undefined: documents are not signed. */
  readonly signer: ConfigSigner | undefined;
  now(): Date;
};

/** Updates accounts' entries in CONFIG and GATEWAY_CONFIG to their live versions in PostgreSQL. */
export type AccountPublisher = {
  /** Undefined for an account that has published nothing. */
  publish(buckets: ConfigBuckets, accountId: string): Promise<PublishedAccount | undefined>;
  /** Like `publish`, but reads the buckets first. */
  reconcile(buckets: ConfigBuckets, accountId: string): Promise<PublishedAccount | undefined>;
};

export type ConfigBuckets = Pick<Buckets, 'config' | 'gatewayConfig'>;

/** An entry of a bucket: its revision, the hash of its document, and when it was signed; 0 and '' if there is none. */
type Held = { readonly revision: number; readonly digest: string; readonly signedAtMs: number };
/** The entries of an account in both buckets. */
type HeldOfAccount = { readonly config: Held; readonly gatewayConfig: Held };
/** A document to be written under an account's key, if the entry is still the one that was read. */
type Write = { readonly bucket: Bucket; readonly signee: string; readonly document: Uint8Array; readonly held: Held };

const attemptsMax = 10;
const accountsRemembered = 10_000;

/**
 * Each write is conditional on the entry that was read before the database, so that a delayed publisher never replaces
 * a newer state by an older one. The publisher remembers entries that it wrote instead of reading them again: if they
 * have changed since, the condition fails. An entry without a valid signature counts as missing. The gateways' entry is
 * written second, because it contains the revision of the first.
 */
export function createAccountPublisher({ storage, signer, now }: AccountPublisherOptions): AccountPublisher {
  const known = new LRUCache<string, HeldOfAccount>({ max: accountsRemembered });
  let newestMs = 0;
  /** Undefined when another writer was first. */
  const write = async (accountId: string, { bucket, signee, document, held }: Write): Promise<Held | undefined> => {
    const digest = digestOf(document);
    if (held.digest === digest) return held;
    // Readers refuse a document signed earlier than theirs, and the clock may have been set back.
    const signedAtMs = Math.max(now().getTime(), held.signedAtMs + 1, newestMs + 1);
    newestMs = signedAtMs;
    const bytes = signer === undefined ? document : signer.sign(signee, document, signedAtMs);
    const revision = await bucket
      .putIfUnchanged(accountKey(accountId), bytes, held.revision)
      .catch((error: unknown) => {
        if (!(error instanceof PublishError && error.reason === 'too_large')) throw error;
        const size = `its configuration, ${bytes.length} bytes, is larger than a message of the log may be`;
        throw new AccountPublishError(`publishing account ${accountId}: ${size}`, { cause: error });
      });
    return revision === undefined ? undefined : { revision, digest, signedAtMs };
  };
  const publish = async (buckets: ConfigBuckets, accountId: string): Promise<PublishedAccount | undefined> => {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const held = known.get(accountId) ?? (await readHeld(buckets, accountId, signer));
      const document = await readAccountDocument(storage.fork(), accountId);
      if (document === undefined) return undefined;
      known.delete(accountId);
      const encoded = encodeAccountConfig(document);
      const config = await write(accountId, {
        bucket: buckets.config,
        signee: accountId,
        document: encoded,
        held: held.config,
      });
      if (config === undefined) continue;
      const ofGateways = gatewayConfigOf(document, config.revision);
      const gatewayConfig = await write(accountId, {
        bucket: buckets.gatewayConfig,
        signee: gatewaySignee(accountId),
        document: ofGateways,
        held: held.gatewayConfig,
      });
      if (gatewayConfig === undefined) continue;
      known.set(accountId, { config, gatewayConfig });
      const written = config !== held.config || gatewayConfig !== held.gatewayConfig;
      return { revision: config.revision, written, bytes: encoded.length + ofGateways.length };
    }
    throw new AccountPublishError(`publishing account ${accountId}: another writer was first ${attemptsMax} times`);
  };
  return {
    publish,
    reconcile(buckets, accountId) {
      known.delete(accountId);
      return publish(buckets, accountId);
    },
  };
}

async function readHeld(
  { config, gatewayConfig }: ConfigBuckets,
  accountId: string,
  signer: ConfigSigner | undefined,
): Promise<HeldOfAccount> {
  const key = accountKey(accountId);
  const [ofPipelines, ofGateways] = await Promise.all([config.get(key), gatewayConfig.get(key)]);
  return {
    config: heldOf(ofPipelines, accountId, signer),
    gatewayConfig: heldOf(ofGateways, gatewaySignee(accountId), signer),
  };
}

function heldOf(entry: BucketEntry | undefined, signee: string, signer: ConfigSigner | undefined): Held {
  const revision = entry?.revision ?? 0;
  if (entry?.value === undefined) return { revision, digest: '', signedAtMs: 0 };
  if (signer === undefined) return { revision, digest: digestOf(withoutSignature(entry.value)), signedAtMs: 0 };
  const opened = signer.open(signee, entry.value);
  return {
    revision,
    digest: opened === undefined ? '' : digestOf(opened.document),
    signedAtMs: opened?.signedAtMs ?? 0,
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
