import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { OAuthEntry } from '../../contracts/config/oauth-entry.ts';
import { retry } from '../../runtime/retry.ts';
import type { OAuthGrant } from '../oauth-grant.ts';
import type { Sender } from '../sender.ts';
import { requestToken } from './request-token.ts';
import type { TokenAnswer } from './request-token.ts';
import type { TokenStore } from './token-store.ts';

export type TokenResult =
  | { readonly kind: 'token'; readonly accessToken: string }
  /** No token at present. `isRefused`: the platform rejects the credentials; the operator has to change them. */
  | { readonly kind: 'none'; readonly reason: string; readonly isRefused: boolean };

/** Provides access tokens. Before a token expires, one process requests the next token for all processes. */
export type TokenSource = {
  /**
   * A token of the grant, which is stored within the quota of the account. `rejected`: a token that the platform does
   * not accept any more and that is replaced.
   */
  get(accountId: string, grant: OAuthGrant, sender: Sender, rejected?: string): Promise<TokenResult>;
};

export type TokenSourceOptions = {
  readonly store: TokenStore;
  /** How long the request for a token may take, in ms. */
  readonly requestTimeoutMs: number;
  readonly now?: () => number;
};

/** Maximum grants in the cache. */
const grantsMax = 10_000;
/**
 * A token is replaced this long before it expires, or after half of its lifetime if that is later. It is used until the
 * new one arrives.
 */
const renewMs = 5 * 60_000;
/** A token with less time left may expire during the request. */
const usableMs = 30_000;
/** A claim lasts this much longer than its request may. Then other processes assume that the claiming one died. */
const claimSlackMs = 5_000;
/** Attempts to store a token. */
const writesMax = 6;
const lookEveryMs = 200;
/** A refusal is cached for this long; then one process requests a token again. */
const refusalMs = 60_000;
/** The platform is asked again this long after it issued no token for another reason. */
const pauseMs = 5_000;

type Before = { readonly revision: number; readonly refreshToken: string | undefined };

/** A running attempt to obtain a token other than `rejected`. */
type Asking = { readonly rejected: string | undefined; readonly result: Promise<TokenResult> };

/**
 * Tokens of all destinations of a thread. They are shared with other threads and processes through the store, because
 * platforms limit how often they issue tokens, and some accept a refresh token only once.
 */
export function createTokenSource({ store, requestTimeoutMs, now = Date.now }: TokenSourceOptions): TokenSource {
  const askingMs = requestTimeoutMs + claimSlackMs;
  const known = new LRUCache<string, OAuthEntry>({ max: grantsMax });
  const asking = new Map<string, Asking>();
  const paused = new LRUCache<string, { readonly untilMs: number; readonly result: TokenResult }>({ max: grantsMax });

  /** Stores an answer; false if another process has stored a later one meanwhile. */
  const storeNext = async (accountId: string, key: string, next: OAuthEntry, before: Before): Promise<boolean> => {
    for (let { revision } = before; ;) {
      if ((await store.write(accountId, key, next, revision)) !== undefined) return true;
      const found = await store.read(key);
      // A process that has only claimed the request, or was refused, has no newer refresh token than this answer.
      const isReplaced = found.entry !== undefined && found.entry.refreshToken !== before.refreshToken;
      if (next.refusal !== undefined || isReplaced) return false;
      revision = found.revision;
    }
  };

  const obtain = async (
    accountId: string,
    key: string,
    grant: OAuthGrant,
    sender: Sender,
    rejected: string | undefined,
  ): Promise<TokenResult> => {
    const endMs = now() + askingMs;
    for (;;) {
      const { entry, revision } = await store.read(key);
      const nowMs = now();
      const found = entry === undefined ? undefined : resultOf(entry, nowMs, renewAtMs, rejected);
      if (entry !== undefined && found !== undefined) {
        known.set(key, entry);
        return found;
      }
      const isAsked = entry?.askedUntilMs !== undefined && entry.askedUntilMs > nowMs;
      if (isAsked && nowMs < endMs) {
        await delay(lookEveryMs);
        continue;
      }
      if (isAsked) return unavailable('another process asks for the token');
      const claim: OAuthEntry = { ...kept(entry), askedUntilMs: nowMs + askingMs };
      const claimed = await store.write(accountId, key, claim, revision);
      if (claimed === undefined) continue;
      const answer = await requestToken(grant, entry?.refreshToken, sender, nowMs);
      if (answer.kind === 'unavailable') {
        await store.write(accountId, key, kept(entry), claimed);
        return unavailable(answer.reason);
      }
      const next = nextEntry(kept(entry), answer, nowMs);
      const before = { revision: claimed, refreshToken: entry?.refreshToken };
      const isStored = await retry(() => storeNext(accountId, key, next, before), {
        isPassing: (_error, attempt) => attempt < writesMax,
      });
      if (!isStored) continue;
      known.set(key, next);
      return resultOf(next, now(), ({ expiresAtMs }) => expiresAtMs, undefined) ?? unavailable('the token has expired');
    }
  };

  /** Obtains a token with one request at a time per grant. Never rejects. */
  const obtainOnce = async (
    accountId: string,
    key: string,
    grant: OAuthGrant,
    sender: Sender,
    rejected?: string,
  ): Promise<TokenResult> => {
    for (let running = asking.get(key); running !== undefined; running = asking.get(key)) {
      const found = await running.result;
      // The running attempt may have begun before the token was rejected, and may have found that token in the store.
      const isRejected = found.kind === 'token' && found.accessToken === rejected;
      if (!isRejected || running.rejected === rejected) return found;
    }
    const result = obtain(accountId, key, grant, sender, rejected)
      .catch((error: unknown) => unavailable(`the store of tokens: ${error instanceof Error ? error.name : 'failed'}`))
      .finally(() => asking.delete(key))
      .then((found) => {
        if (found.kind === 'none' && !found.isRefused) paused.set(key, { untilMs: now() + pauseMs, result: found });
        return found;
      });
    asking.set(key, { rejected, result });
    return result;
  };

  return {
    async get(accountId, grant, sender, rejected) {
      const key = keyOf(grant);
      const entry = known.get(key);
      const nowMs = now();
      const fresh = entry === undefined ? undefined : resultOf(entry, nowMs, renewAtMs, rejected);
      if (fresh !== undefined) return fresh;
      const pause = paused.get(key);
      const obtained =
        pause !== undefined && nowMs < pause.untilMs
          ? pause.result
          : obtainOnce(accountId, key, grant, sender, rejected);
      const usable = entry === undefined ? undefined : resultOf(entry, nowMs, usableUntilMs, rejected);
      // No request waits for the next token while the current one is valid.
      return usable ?? obtained;
    },
  };
}

type Token = NonNullable<OAuthEntry['token']>;

const renewAtMs = ({ renewAtMs: at, expiresAtMs }: Token): number => at ?? expiresAtMs - renewMs;
const usableUntilMs = ({ expiresAtMs }: Token): number => expiresAtMs - usableMs;

/** Result from a stored entry, whose token is used until `until`; undefined if a token has to be requested. */
function resultOf(
  { token, refusal }: OAuthEntry,
  nowMs: number,
  until: (token: Token) => number,
  rejected: string | undefined,
): TokenResult | undefined {
  if (token !== undefined && token.accessToken !== rejected && nowMs < until(token)) {
    return { kind: 'token', accessToken: token.accessToken };
  }
  if (refusal === undefined || refusal.untilMs <= nowMs) return undefined;
  return { kind: 'none', reason: refusal.reason, isRefused: true };
}

function nextEntry(
  before: OAuthEntry,
  answer: Exclude<TokenAnswer, { kind: 'unavailable' }>,
  nowMs: number,
): OAuthEntry {
  if (answer.kind === 'refused') return { ...before, refusal: { reason: answer.reason, untilMs: nowMs + refusalMs } };
  const { accessToken, lifetimeMs, refreshToken = before.refreshToken } = answer;
  const renewAfterMs = Math.max(lifetimeMs - renewMs, lifetimeMs / 2);
  const token = { accessToken, expiresAtMs: nowMs + lifetimeMs, renewAtMs: nowMs + renewAfterMs };
  return { v: 1, token, ...(refreshToken === undefined ? {} : { refreshToken }) };
}

/** The part of an entry that is kept while a token is requested. */
function kept(entry: OAuthEntry | undefined): OAuthEntry {
  const { askedUntilMs: _, refusal: _refusal, ...rest } = entry ?? { v: 1 as const };
  return rest;
}

function unavailable(reason: string): TokenResult {
  return { kind: 'none', reason, isRefused: false };
}

const keys = new WeakMap<OAuthGrant, string>();

/** The key of a grant in the store, which is the same for equal credentials, whatever the destination. */
function keyOf(grant: OAuthGrant): string {
  const known = keys.get(grant);
  if (known !== undefined) return known;
  const { tokenUrl, by, client, scope, parameters } = grant;
  const key = hash('sha256', JSON.stringify([tokenUrl, by, client, scope, parameters]), 'hex');
  keys.set(grant, key);
  return key;
}
