import type { ResultRow } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';

/** A stored result with these rows. */
export function resultForTests(rows: readonly ResultRow[], own: Partial<StoredResult> = {}): StoredResult {
  return {
    format: 2,
    scenario: 'track',
    summary: 'tracks a second',
    at: '2026-01-02T03:04:05.678Z',
    isQuick: false,
    tookS: 12,
    machine: {
      cpu: 'a processor',
      cores: 2,
      memoryGiB: 8,
      os: 'linux',
      node: 'v20.20.2',
      natsServer: '2.10.27',
      packages: { nats: '2.29.3' },
      revision: 'abcdef',
      disk: { p50: 0.3, p90: 0.5, p99: 0.9, samples: 300 },
    },
    settings: { connections: 256 },
    bars: [],
    rows,
    measured: {},
    ...own,
  };
}
