import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControlPlane } from './services.ts';
import type { Service } from './services.ts';
import type { Stage } from './stage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Access to an account of a control plane. */
export type ControlAccess = {
  /** Key of the account's first source; empty if unknown. */
  readonly sourceToken: string;
  readonly apiKey: string;
  /** Calls the configuration API; throws for any status but 2xx. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<Json>;
  /**
   * Publishes the draft as a new version and returns its id. Calls `onSend` when the version is created and not yet
   * published.
   */
  publish(onSend?: () => void): Promise<string>;
};

/** A control plane with access to the account that it creates at its first start. */
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

/** Reads the keys from `file`, the control plane's BOOTSTRAP_FILE. */
export async function openControl(url: string, file: string): Promise<ControlAccess> {
  const { apiKey, sourceToken } = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, string>>;
  return accessByKey(url, apiKey ?? '', sourceToken);
}

/** Access to an existing account by one of its API keys. */
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
