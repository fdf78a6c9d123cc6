import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { createHttpMetrics } from './http/http-metrics.ts';
import type { HttpMetrics } from './http/http-metrics.ts';
import type { ConfigPublisher } from './push/config-publisher.ts';

export type Metrics = {
  readonly registry: Registry;
  readonly http: HttpMetrics;
  /** Shows what the publisher does. */
  watchPublisher(publisher: ConfigPublisher, leading: () => boolean): void;
};

/** The registry of this process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: 'sluice_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['component', 'node'],
    registers: [registry],
  });
  build.set({ component: 'control-plane', node: process.version }, 1);
  return {
    registry,
    http: createHttpMetrics(registry),
    watchPublisher(publisher, leading) {
      gauge(registry, 'sluice_config_revision', 'Newest revision of the CONFIG bucket seen.', () => publisher.revision);
      gauge(registry, 'sluice_outbox_pending_rows', 'Published changes not pushed yet.', () => publisher.waiting);
      gauge(registry, 'sluice_config_leader', '1 in the control plane that pushes.', () => (leading() ? 1 : 0));
    },
  };
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  const shown: Gauge = new Gauge({ name, help, registers: [registry], collect: () => shown.set(read()) });
}
