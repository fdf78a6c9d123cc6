import { once } from 'node:events';
import { WebSocket } from 'undici';
import { waitUntil } from '../../machine/wait-until.ts';
import type { ServicePart } from './stack-parts.ts';

type Told = {
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly workerInfo?: { readonly url?: string } };
};

const deadlineMs = 10_000;
const readyDeadlineMs = 60_000;

/**
 * Simulates a bug by running an expression in a pool thread of a service, through the inspector that SIGUSR1 opens.
 * Resolves once that thread has ended; throws if the thread has not ended within `endDeadlineMs`.
 */
export async function breakThread(service: ServicePart, expression: string, endDeadlineMs = deadlineMs): Promise<void> {
  const { name, signal, inspectPort } = service;
  await waitUntil(`${name} to be ready`, readyDeadlineMs, async () =>
    (await service.isReady()) ? undefined : 'it is not',
  );
  signal('SIGUSR1');
  const address = await inspectorOf(name, inspectPort);
  const socket = new WebSocket(address);
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(deadlineMs) });
    const session = new Promise<string>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const { method, params } = JSON.parse(String(data)) as Told;
        const isPool = params?.workerInfo?.url?.includes('piscina') === true;
        if (method === 'NodeWorker.attachedToWorker' && isPool) resolve(params.sessionId ?? '');
      });
    });
    const ended = new Promise<void>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        if ((JSON.parse(String(data)) as Told).method === 'NodeWorker.detachedFromWorker') resolve();
      });
      socket.addEventListener('close', () => reject(new Error(`${name} closed its inspector`)));
      setTimeout(() => reject(new Error(`no thread of ${name} ended although one was broken`)), endDeadlineMs).unref();
    });
    socket.send(JSON.stringify({ id: 1, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } }));
    const sessionId = await Promise.race([session, ended.then(() => '')]);
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
    socket.send(JSON.stringify({ id: 2, method: 'NodeWorker.sendMessageToWorker', params: { sessionId, message } }));
    await ended;
  } finally {
    socket.close();
  }
}

async function inspectorOf(name: string, port: number): Promise<string> {
  let address = '';
  await waitUntil(`the inspector of ${name}`, deadlineMs, async () => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(deadlineMs) });
      const [target] = (await answer.json()) as readonly { readonly webSocketDebuggerUrl?: string }[];
      address = target?.webSocketDebuggerUrl ?? '';
    } catch {
      return 'it does not listen';
    }
    return address === '' ? 'it has no target' : undefined;
  });
  return address;
}
