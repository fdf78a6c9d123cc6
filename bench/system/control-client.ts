import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControlPlane } from './services.ts';
import type { Service } from './services.ts';
import type { Stage } from './stage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Access to the account that a control plane creates at its first start. */
export type ControlAccess = {
  /** Key of the account's first source. */
  readonly sourceToken: string;
  readonly apiKey: string;
  /** One call of the configuration interface; throws on anything but 2xx. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<Json>;
  /** Publishes the draft as a new version and returns its id; `onSend` is called between creating and publishing it. */
  publish(onSend?: () => void): Promise<string>;
};

/** A control plane with an account of its own. */
export type ControlClient = ControlAccess & { readonly service: Service };

const deadlineMs = 60_000;
let planes = 0;

export async function startControlClient(
  stage: Stage,
  natsUrl: string,
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ControlClient> {
  planes += 1;
  const file = join(stage.folder, `credentials-${planes}.json`);
  const service = await startControlPlane(stage, natsUrl, databaseUrl, { env: { ...env, BOOTSTRAP_FILE: file } });
  return { service, ...(await openControl(service.url, file)) };
}

/** `file` is the control plane's BOOTSTRAP_FILE. */
export async function openControl(url: string, file: string): Promise<ControlAccess> {
  const { apiKey, sourceToken } = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, string>>;
  return accessByKey(url, apiKey ?? '', sourceToken);
}

/** An account whose key is known. */
export function accessByKey(url: string, apiKey: string, sourceToken = ''): ControlAccess {
  const call: ControlAccess['call'] = async (method, path, body) => {
    const answer = await fetch(`${url}/rest/v1/${path}`, {
      method,
      signal: AbortSignal.timeout(deadlineMs),
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Json;
  };
  return {
    sourceToken,
    apiKey,
    call,
    async publish(onSend) {
      const version = await call('POST', 'versions', { name: 'bench' });
      onSend?.();
      const id = String(version['id']);
      await call('POST', `versions/${id}/publish`);
      return id;
    },
  };
}
