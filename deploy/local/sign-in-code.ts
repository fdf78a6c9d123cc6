import type { Credentials } from './credentials.ts';

const timeoutMs = 5_000;

/**
 * A code that signs a browser in to the console, once. Undefined where the control plane cannot be asked for one, as
 * with a certificate that this machine does not know: one can still sign in with the API key.
 */
export async function makeSignInCode({ controlPlane, apiKey }: Credentials): Promise<string | undefined> {
  try {
    const answer = await fetch(`${controlPlane}/rest/v1/sign-in-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: apiKey }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) return undefined;
    return ((await answer.json()) as { readonly code: string }).code;
  } catch {
    return undefined;
  }
}
