import { waitUntil } from '../../machine/wait-until.ts';
import { startedAgain } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import { servicesOf, unreadyService } from '../stack/stack.ts';

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
