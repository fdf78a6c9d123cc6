import { restartInTurn } from '../stack/actions.ts';
import { servicesOf } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

/** Error codes of a client whose keep-alive connection was closed between two requests. */
const closed: ReadonlySet<string> = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

export const rollingRestart = defineFault({
  name: 'rolling-restart',
  about: 'two gateways, two pipelines and the control plane get SIGTERM, each after the previous one is ready again',
  sees: 'Nothing: no request fails, except on a keep-alive connection that closes between two requests. Deliveries of work that is handed over pause for a moment.',
  does: 'If requests fail: SHUTDOWN_IDLE_MS and SHUTDOWN_ACCEPT_MS do not suit the load balancer in front of the gateways ([start-stop-upgrade.md](start-stop-upgrade.md)).',
  harms: ['gateways', 'pipelines', 'control-plane'],
  gateways: 2,
  pipelines: 2,
  run: ({ stack }) => restartInTurn(servicesOf(stack)),
  async check(_context, { refused }) {
    const failed = Object.entries(refused).filter(([kind]) => !closed.has(kind));
    if (failed.length === 0) return undefined;
    return `requests failed for reasons other than a closed connection: ${failed.map(([kind, count]) => `${count} × ${kind}`).join(', ')}`;
  },
});
