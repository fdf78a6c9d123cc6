import { findSourceKind } from '../../shared/sources/registry.ts';
import type { Exchange } from '../http/exchange.ts';
import { failure } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { retryAfterS } from '../http/reply.ts';
import type { PublishedSource } from '../ingest/published-sources.ts';

const missing = failure(401, 'the request is not signed: the header with the signature is missing');
const wrong = failure(
  401,
  "the signature is wrong: the provider signs with another secret than the source's signingSecret",
);
const stale = failure(401, 'the signature is too old or too new: the request was sent again, or a clock is wrong');
/** The gateway cannot check the signature, so the provider should retry. */
const sealed = failure(503, "the source's signing secret cannot be read here; try again later", {
  headers: [['retry-after', String(retryAfterS)]],
});

/** The answer to a request without a valid signature; undefined if the signature is valid or not required. */
export function refuseUnsigned(
  { type, signing }: PublishedSource,
  { head: { more } }: Exchange,
  body: Uint8Array,
  time: { readonly nowMs: number; readonly ageMsMax: number },
): Reply | undefined {
  if (signing.kind === 'none') return undefined;
  const signature = findSourceKind(type)?.signature;
  if (signing.kind === 'sealed' || signature === undefined || more === undefined) return sealed;
  const header = (name: string): string => more.header(name);
  // Providers sign the address that they called, which begins with https whether TLS ends here or at a proxy.
  const url = `https://${header('host')}${more.target}`;
  switch (signature.check({ body, url, header, ...time }, signing.secret)) {
    case 'valid':
      return undefined;
    case 'missing':
      return missing;
    case 'wrong':
      return wrong;
    case 'stale':
      return stale;
  }
}
