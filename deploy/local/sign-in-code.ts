import type { Credentials } from './credentials.ts';

const timeoutMs = 5_000;

type Access = Pick<Credentials, 'controlPlane' | 'apiKey'>;

/** A code that signs a browser in to the console of a running stack, once. */
export async function requestSignInCode({ controlPlane, apiKey }: Access): Promise<string> {
  const answer = await fetch(`${controlPlane}/rest/v1/sign-in-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: apiKey }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new Error(`the control plane at ${controlPlane} does not answer: is the stack running?`, { cause });
  });
  const body = (await answer.json()) as { readonly code?: string; readonly error?: string };
  if (body.code === undefined) throw new Error(`the control plane answered ${answer.status}: ${body.error ?? ''}`);
  return body.code;
}

/**
 * Like `requestSignInCode`, but undefined if the request fails, for example because this machine does not trust the
 * control plane's certificate: signing in with the API key remains possible.
 */
export async function makeSignInCode(access: Access): Promise<string | undefined> {
  try {
    return await requestSignInCode(access);
  } catch {
    return undefined;
  }
}
