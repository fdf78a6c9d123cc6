import type { SecretBox } from '../../contracts/config/secrets.ts';
import type { Bucket } from '../../nats/buckets/bucket.ts';
import { createTokenSource } from './token-source.ts';
import type { TokenSource } from './token-source.ts';
import { createBucketTokenStore } from './token-store.ts';

/** The source of platforms' access tokens, which processes share, sealed, through a bucket. */
export const createBucketTokens = (bucket: () => Bucket, box: SecretBox, requestTimeoutMs: number): TokenSource =>
  createTokenSource({ store: createBucketTokenStore(bucket, box), requestTimeoutMs });
