import pg from 'pg';
import { addSinkDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const aliases = 300_000;
const devices = 4;
const perS = 50;
const deviceOf = (index: number): string => `kiosk-${index % devices}`;

/** Shared devices, each with very many merged ids, on which one person after the other signs in. */
export const largeMerges: Attack = {
  name: 'large-merges',
  summary: `${devices} devices with ${aliases / devices} aliases each, merged into people, and ${perS} events per second of their aliases`,
  prepare: addSinkDestination,
  /** Inserts the rows that such merges leave. */
  async fill({ databaseUrl, accountId }) {
    const session = new pg.Client({ connectionString: databaseUrl });
    await session.connect();
    try {
      for (let device = 0; device < devices; device += 1) {
        await session.query('insert into visitors (account_id, id) values ($1, $2)', [accountId, deviceOf(device)]);
        await session.query(
          `insert into visitors (account_id, id, merged_into, created_at)
            select $1, $2 || '-' || n, $2, now() + n * interval '1 ms' from generate_series(1, $3::int) n`,
          [accountId, deviceOf(device), aliases / devices],
        );
      }
    } finally {
      await session.end();
    }
  },
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 32);
    const { token } = target;
    await strikeAtRate(signal, { perS, atOnceMax: 64 }, async (index) => {
      const device = deviceOf(index);
      const isSignIn = index % perS < devices;
      const identifiers = isSignIn
        ? { userId: device, externalId: `${runId}-${index}` }
        : { userId: `${device}-${1 + (index % (aliases / devices))}` };
      const body = JSON.stringify({ token, event: 'x', distinctId: `${runId}-${index}`, ...identifiers });
      await send({ url: `${target.gatewayUrl}/api/v1/track`, body });
    });
  },
};
