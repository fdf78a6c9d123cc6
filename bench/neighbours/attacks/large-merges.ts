import pg from 'pg';
import { addSinkDestination } from './attack.ts';
import type { Attack, Target } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const aliases = 300_000;
/** A device is merged once, so each round of the measurement needs another one. */
const deviceIds = Array.from({ length: 5 }, (_, index) => `kiosk-${index}`);
const personOf = (device: string): string => `person-of-${device}`;
const perS = 50;

/** A shared device with very many merged ids, on which an older person signs in: its visitor merges into the person. */
export const largeMerges: Attack = {
  name: 'large-merges',
  summary: `each round merges a device with ${aliases} aliases into a person, with ${perS} events per second of its aliases`,
  expects: { answers: ['200'], perS },
  prepare: addSinkDestination,
  /** Inserts the rows that earlier merges leave. */
  fill: (target) =>
    onDatabase(target, async (session) => {
      for (const device of deviceIds) {
        await session.query(
          `with person as (
            insert into visitors (account_id, id, properties, created_at)
            values ($1, $2, jsonb_build_object('external_id', $2::text), now() - interval '1 year') returning id
          ) insert into visitor_identities (account_id, kind, value, visitor_id)
            select $1, 'external_id', id, id from person`,
          [target.accountId, personOf(device)],
        );
        await session.query('insert into visitors (account_id, id) values ($1, $2)', [target.accountId, device]);
        await session.query(
          `insert into visitors (account_id, id, merged_into, created_at)
            select $1, $2 || '-' || n, $2, now() + n * interval '1 ms' from generate_series(1, $3::int) n`,
          [target.accountId, device, aliases],
        );
      }
    }),
  async run(strike) {
    const { target, signal } = strike;
    const [device] = await readUnmerged(target);
    if (device === undefined) throw new Error(`large-merges: there are only ${deviceIds.length} devices to merge`);
    const send = createSend(strike, 32);
    const { token } = target;
    await strikeAtRate(signal, { perS, atOnceMax: 64 }, async (index) => {
      const identifiers =
        index % perS === 0
          ? { userId: device, externalId: personOf(device) }
          : { userId: `${device}-${1 + (index % aliases)}` };
      const body = JSON.stringify({ token, event: 'x', distinctId: `${runId}-${index}`, ...identifiers });
      await send({ url: `${target.gatewayUrl}/api/v1/track`, body });
    });
    if ((await readUnmerged(target)).includes(device)) throw new Error('large-merges: no visitor was merged');
  },
};

/** The devices that are not merged into a person yet. */
const readUnmerged = ({ databaseUrl, accountId }: Target): Promise<readonly string[]> =>
  onDatabase({ databaseUrl }, async (session) => {
    const { rows } = await session.query<{ id: string }>(
      'select id from visitors where account_id = $1 and id = any($2) and merged_into is null order by id',
      [accountId, deviceIds],
    );
    return rows.map(({ id }) => id);
  });

async function onDatabase<Result>(
  { databaseUrl }: Pick<Target, 'databaseUrl'>,
  work: (session: pg.Client) => Promise<Result>,
): Promise<Result> {
  const session = new pg.Client({ connectionString: databaseUrl });
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}
