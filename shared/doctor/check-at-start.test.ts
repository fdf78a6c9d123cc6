import { pino } from 'pino';
import { expect, test } from 'vitest';
import { versionProblem } from '../nats/connection/server-version.ts';
import { checkAtStart } from './check-at-start.ts';

test('check at start: a reconnect to a server that is too old is logged in one line', async () => {
  const lines: { readonly level: number; readonly msg: string; readonly problem?: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const reconnected: (() => void)[] = [];
  let version = '2.15.1';
  const connection = {
    server: { version },
    get problem() {
      return versionProblem(version);
    },
    onReconnect(listener: () => void) {
      reconnected.push(listener);
      return () => undefined;
    },
  };
  await checkAtStart({ connection, monitorUrls: undefined, logger });
  const errors = (): readonly (string | undefined)[] =>
    lines.flatMap((line) => (line.level >= 50 ? [line.problem] : []));
  for (const listener of reconnected) listener();
  expect(errors()).toEqual([]);
  version = '2.10.27';
  for (const listener of reconnected) listener();
  expect(errors()).toEqual([expect.stringContaining('nats-server 2.10.27 is older than 2.15.1')]);
});
