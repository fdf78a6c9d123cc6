import { createHash, createHmac } from 'node:crypto';
import { readTime } from '../sdk/read-time.ts';
import { isSame } from '../sdk/signature.ts';
import type { SignatureScheme, SignatureVerdict, SignedRequest } from '../sdk/signature.ts';

const newest = 'x-hubspot-signature-v3';
const older = 'x-hubspot-signature';
const version = 'x-hubspot-signature-version';
const timestamp = 'x-hubspot-request-timestamp';

/**
 * HubSpot's three signature versions. A request with a signature of version 3 is checked by this signature alone.
 * Versions 1 and 2, which custom actions and older subscriptions use, contain no time.
 *
 * https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 */
export const hubspotSignature: SignatureScheme = {
  headers: [newest, older, version, timestamp],
  label:
    '`X-HubSpot-Signature-v3`: base64 of HMAC-SHA256 over method, address, body and time; without it `X-HubSpot-Signature`, version 2 or 1',
  secretName: 'Client secret of the app',
  check(request, secret) {
    return request.header(newest) === '' ? checkOlder(request, secret) : checkNewest(request, secret);
  },
};

function checkNewest(request: SignedRequest, secret: string): SignatureVerdict {
  const time = request.header(timestamp).trim();
  if (time === '') return 'missing';
  const received = request.header(newest).trim();
  const fits = spellings(request.url).some((url) => {
    const hmac = createHmac('sha256', secret).update(`POST${url}`).update(request.body).update(time);
    return isSame(received, hmac.digest('base64'));
  });
  if (!fits) return 'wrong';
  const timeMs = readTime(time);
  return timeMs !== undefined && Math.abs(request.nowMs - timeMs) <= request.ageMsMax ? 'valid' : 'stale';
}

function checkOlder({ header, url, body }: SignedRequest, secret: string): SignatureVerdict {
  const received = header(older).trim();
  if (received === '') return 'missing';
  const before =
    header(version).trim() === 'v2' ? spellings(url).map((spelled) => `${secret}POST${spelled}`) : [secret];
  const fits = before.some((start) => isSame(received, createHash('sha256').update(start).update(body).digest('hex')));
  return fits ? 'valid' : 'wrong';
}

/** The address as received, and the address in which the escapes are decoded that HubSpot decodes before signing. */
function spellings(url: string): string[] {
  const undone = url.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent);
  return undone === url ? [url] : [url, undone];
}
