import { once } from 'node:events';
import { WebSocket } from 'undici';
import { kill, only, pause, startedAgain } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import { waitUntil } from '../../machine/wait-until.ts';
import type { ServicePart } from '../stack/stack-parts.ts';
import { servicesOf, unreadyService } from '../stack/stack.ts';

const slow = { answerAfterMs: 1_000 };

export const pipelineKilled = defineFault({
  name: 'pipeline-killed',
  about: 'the only pipeline gets SIGKILL',
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const pipelineKilledSlow = defineFault({
  name: 'pipeline-killed-slow',
  about: 'the only pipeline gets SIGKILL while destinations take 1 s to answer',
  ...slow,
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const pipelineTerminatedSlow = defineFault({
  name: 'pipeline-terminated-slow',
  about: 'the only pipeline gets SIGTERM while destinations take 1 s to answer',
  ...slow,
  async run({ stack }) {
    only(stack.pipelines).signal('SIGTERM');
  },
});

export const pipelinePaused = defineFault({
  name: 'pipeline-paused',
  about: 'the only pipeline stands still for 20 s (SIGSTOP)',
  run: ({ stack }) => pause(only(stack.pipelines)),
});

export const threadThrown = defineFault({
  name: 'thread-thrown',
  about: 'a worker thread of the pipeline throws, told to by the inspector',
  run: ({ stack }) => throwInThread(only(stack.pipelines)),
});

export const twoPipelinesOneKilled = defineFault({
  name: 'two-pipelines-one-killed',
  about: 'one of two pipelines gets SIGKILL',
  pipelines: 2,
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const twoPipelinesOnePaused = defineFault({
  name: 'two-pipelines-one-paused',
  about: 'one of two pipelines stands still for 20 s (SIGSTOP)',
  pipelines: 2,
  run: ({ stack }) => pause(only(stack.pipelines)),
});

type Told = {
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly workerInfo?: { readonly url?: string } };
};

const deadlineMs = 10_000;
/** As a bug would: outside of everything that could catch it. */
const expression = `setTimeout(() => { throw new Error('thrown to see what becomes of it'); }, 0)`;

/** Makes a thread of a service's pool throw, from outside: through the inspector, which SIGUSR1 opens. */
async function throwInThread({ name, signal, inspectPort }: ServicePart): Promise<void> {
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
    const thrown = new Promise<void>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        if ((JSON.parse(String(data)) as Told).method === 'NodeWorker.detachedFromWorker') resolve();
      });
      socket.addEventListener('close', () => reject(new Error(`${name} closed its inspector`)));
      setTimeout(() => reject(new Error(`no thread of ${name} ended although one threw`)), deadlineMs).unref();
    });
    socket.send(JSON.stringify({ id: 1, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } }));
    const sessionId = await Promise.race([session, thrown.then(() => '')]);
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
    socket.send(JSON.stringify({ id: 2, method: 'NodeWorker.sendMessageToWorker', params: { sessionId, message } }));
    await thrown;
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

export const nothing = defineFault({
  name: 'nothing',
  about: 'nothing goes wrong: what the other rows are to be held against',
  run: () => Promise.resolve(),
});

export const gatewayKilled = defineFault({
  name: 'gateway-killed',
  about: 'the only gateway gets SIGKILL',
  async run({ stack }) {
    kill(only(stack.gateways));
  },
});

export const gatewayPaused = defineFault({
  name: 'gateway-paused',
  about: 'the only gateway stands still for 20 s (SIGSTOP)',
  run: ({ stack }) => pause(only(stack.gateways)),
});

const readyDeadlineMs = 60_000;
/** What a client sees of a kept connection that ends between two of its requests. */
const closed: ReadonlySet<string> = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

export const rollingRestart = defineFault({
  name: 'rolling-restart',
  about: 'two gateways, two pipelines and the control plane get SIGTERM, each once the one before is ready again',
  gateways: 2,
  pipelines: 2,
  async run({ stack }) {
    for (const service of servicesOf(stack)) {
      const { starts } = service;
      service.signal('SIGTERM');
      await startedAgain(service, starts);
      await waitUntil(`${service.name} to be ready again`, readyDeadlineMs, () => unreadyService([service]));
    }
  },
  async check(_context, { refused }) {
    const failed = Object.entries(refused).filter(([kind]) => !closed.has(kind));
    if (failed.length === 0) return undefined;
    return `requests failed by more than a closed connection: ${failed.map(([kind, count]) => `${count} × ${kind}`).join(', ')}`;
  },
});
