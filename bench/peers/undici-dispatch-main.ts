import { Agent } from 'undici';
import { benchAccountId, visitorIdOf } from '../config/ids.ts';
import { resolvedEvent } from '../fill/fill-events.ts';

/**
 * Bare undici: sends one body again and again to the sink, over `connections` connections, as fast as `dispatch`
 * allows, without a log, decisions or records. https://undici.nodejs.org/#/docs/api/Dispatcher
 */
const [, , target = '', connections = '64', batchSize = '1'] = process.argv;
const url = new URL(target);
const agent = new Agent({ connections: Number(connections), pipelining: 1 });
const { event, visitor } = resolvedEvent(benchAccountId, 1, visitorIdOf(1), Date.now());
const one = JSON.stringify({ event, visitor });
const count = Number(batchSize);
const body = count === 1 ? one : `[${Array.from({ length: count }, () => one).join(',')}]`;
const headers = {
  'content-type': 'application/json',
  'user-agent': 'Sluice/1 (+HTTPDestination)',
  'idempotency-key': event.id,
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

const send = (): void => {
  agent.dispatch(
    { origin: url.origin, path: url.pathname, method: 'POST', headers, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => send(),
      onResponseError: (_controller, error) => {
        throw error;
      },
    },
  );
};
for (let i = 0; i < Number(connections); i += 1) send();
