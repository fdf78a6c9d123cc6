import { ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import type { Durability } from '../nats/monitor/read-durability.ts';

/** A server that does not sync every write is for trying things out, not for events that somebody counts on. */
export function judgeDurability(durability: Durability): Finding {
  const about = 'durability';
  switch (durability.mode) {
    case 'fsync':
      return ok(about, durability.detail);
    case 'interval':
      return warn(about, durability.detail, 'set jetstream { sync_interval: always } on every nats-server');
    case 'unknown':
      return warn(
        about,
        `unknown: ${durability.detail}`,
        'NATS_MONITOR_URL is the monitor address, http://host:8222, of every nats-server',
      );
  }
}
