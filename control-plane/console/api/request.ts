import { readAccounts, removeAccount, replaceAccounts } from './accounts.ts';
import type { SignedIn } from './types.ts';

/** An error of the API, with its message. */
export class RequestError extends Error {
  readonly code = 'request';
  readonly status: number;
  readonly details: string | undefined;

  constructor(status: number, message: string, details: string | undefined) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Calls the API for the account shown. `path` starts after `/rest/v1`. Throws RequestError for any status but 2xx. */
export async function request<Reply>(method: Method, path: string, body?: unknown): Promise<Reply> {
  const answer = await open(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  return (await answer.json()) as Reply;
}

/** As `request`, for a reply that is read as a stream. */
export async function open(method: Method, path: string, init: RequestInit = {}): Promise<Response> {
  const { current } = readAccounts();
  const headers: Record<string, string> = { accept: 'application/json', 'x-sluice-console': '1' };
  if (typeof init.body === 'string') headers['content-type'] = 'application/json';
  if (current !== undefined) {
    headers['x-sluice-account'] = current.accountId;
    // Another tab may have signed in as another user: a request must not act as a user whom this page does not show.
    const holder = current.user?.id ?? current.keyId;
    if (holder !== null) headers['x-sluice-holder'] = holder;
  }
  const answer = await send(`/rest/v1${path}`, { ...init, method, headers });
  if (answer.ok) return answer;
  const failure = await readFailure(answer);
  if (answer.status === 401 && current !== undefined && !path.startsWith('/session')) await readSession(current);
  throw failure;
}

/** Shows who is signed in now. After the end of the session, or of its key or user, that is the sign-in page. */
async function readSession(shown: SignedIn): Promise<void> {
  try {
    replaceAccounts((await request<{ readonly accounts: readonly SignedIn[] }>('GET', '/session')).accounts);
  } catch {
    removeAccount(shown.accountId);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new RequestError(0, 'The control plane does not answer. Is it running?', undefined);
  }
}

async function readFailure(answer: Response): Promise<RequestError> {
  try {
    const { error, details } = (await answer.json()) as { readonly error?: string; readonly details?: string };
    return new RequestError(answer.status, error ?? `The answer was ${answer.status}.`, details);
  } catch {
    return new RequestError(answer.status, `The request failed with status ${answer.status}.`, undefined);
  }
}
