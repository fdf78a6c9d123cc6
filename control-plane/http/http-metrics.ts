import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

export type HttpMetrics = {
  observe(route: string, method: string, code: number, elapsedMs: number): void;
};

/** Counts requests and their time by route, never by address. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'sluice_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'method', 'code'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'sluice_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['route', 'method'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  return {
    observe(route, method, code, elapsedMs) {
      requests.inc({ route, method, code: String(code) });
      duration.observe({ route, method }, elapsedMs / 1_000);
    },
  };
}
