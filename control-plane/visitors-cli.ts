import type { Pool } from 'pg';
import { Command, InvalidArgumentError } from 'commander';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import type { Storage } from '../shared/postgres/open-storage.ts';
import { jsonOption, print } from '../shared/command-line/printed.ts';
import { runCommand, runProgram } from '../shared/command-line/run-command.ts';
import { createVisitorPool } from '../shared/visitors/visitor-pool.ts';
import { readCommandEnv } from './env.ts';
import { findAccount } from './keys/commands.ts';
import { listMergedPeople, showMergedPeople } from './visitors/merged-people.ts';
import { showSuppressed, suppressFile } from './visitors/suppress-file.ts';

type Options = { readonly account?: string; readonly limit: number; readonly json?: true };

const program = new Command('visitors').description('Visitors of an account, from a shell that reaches the database.');
program
  .command('merged')
  .description(
    'list the visitors with more than one externalId: people who were merged by an alias or by an earlier version. ' +
      'Each line has visitor id, creation time, externalIds',
  )
  .option('--account <id or name>', 'the account; optional if there is only one')
  .option('--limit <number>', 'visitors listed at most', readLimit, 1_000)
  .addOption(jsonOption())
  .action(list);

program
  .command('suppress')
  .description(
    'suppress the identifiers in a CSV file that no visitor has, such as the deletion list of another system. Its first line ' +
      'names the columns: userId, externalId, email; others are skipped',
  )
  .argument('<file>', 'the file, in UTF-8')
  .option('--account <id or name>', 'the account; optional if there is only one')
  .option('--reference <text>', 'your own name for the list, stored with each suppressed identifier')
  .addOption(jsonOption())
  .action(suppress);

await runProgram(program);

async function list(options: Options): Promise<void> {
  await withPool(async ({ pool, storage }) => {
    const accountId = await findAccount(storage.fork(), options.account);
    const merged = await listMergedPeople(pool, accountId, { peopleMax: options.limit });
    print({ text: showMergedPeople(merged), value: { accountId, ...merged } }, options);
  });
}

type SuppressOptions = { readonly account?: string; readonly reference?: string; readonly json?: true };

async function suppress(file: string, options: SuppressOptions): Promise<void> {
  await withPool(async ({ pool, storage }) => {
    const accountId = await findAccount(storage.fork(), options.account);
    const done = await suppressFile(pool, { accountId, file, reference: options.reference });
    print({ text: showSuppressed(done), value: { accountId, ...done } }, options);
  });
}

type Databases = { readonly pool: Pool; readonly storage: Storage };

function withPool(work: (databases: Databases) => Promise<void>): Promise<void> {
  return runCommand('visitors', async () => {
    const access = databaseAccess(readCommandEnv());
    const storage = await openStorage({ ...access, connectionsMax: 1 });
    const pool = createVisitorPool({
      ...access,
      connectionsMax: 1,
      name: 'visitors',
      forceIndexScans: true,
      onIdleError: () => undefined,
    });
    try {
      await work({ pool, storage });
    } finally {
      await pool.end();
      await storage.close();
    }
  });
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1) throw new InvalidArgumentError('a whole number of at least 1');
  return limit;
}
