import { Command } from 'commander';
import { createSecretBox, createSourceSecretBox, readSecretKeys } from '../shared/contracts/config/secrets.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import { jsonOption } from '../shared/command-line/printed.ts';
import { runCommand, runProgram } from '../shared/command-line/run-command.ts';
import { readSecretsCommandEnv } from './env.ts';
import { resealSecrets } from './rotation/reseal-secrets.ts';
import type { Resealed } from './rotation/reseal-secrets.ts';

type Options = { readonly json?: true };

const program = new Command('reseal')
  .description(
    'Seals secrets again, with SECRETS_KEY and SOURCE_SECRETS_KEY, if other keys sealed them: the third step of ' +
      'deploy/runbook/rotate-secrets-key.md. Exit: 1 if neither key opens some secrets, which stay as they are.',
  )
  .addOption(jsonOption('for programs: one JSON object per line, the total last'))
  .action((options: Options) => runCommand('reseal', () => reseal(options)));

await runProgram(program);

async function reseal({ json }: Options): Promise<number> {
  const env = readSecretsCommandEnv();
  const secretBox = createSecretBox(...readSecretKeys(env));
  const storage = await openStorage({ ...databaseAccess(env), connectionsMax: 2 });
  const say = (accountId: string | undefined, resealed: Resealed): void => {
    const text = `${accountId === undefined ? 'in all' : `account ${accountId}`}: ${describe(resealed)}`;
    process.stdout.write(`${json === true ? JSON.stringify({ accountId, ...resealed }) : text}\n`);
  };
  try {
    const total = await resealSecrets({
      storage,
      secretBox,
      sourceSecrets: createSourceSecretBox(env),
      now: () => new Date(),
      onAccount: say,
    });
    say(undefined, total);
    return total.unopened > 0 ? 1 : 0;
  } finally {
    await storage.close();
  }
}

function describe({ destinations, sources, versions, sourceKeys, erasures, accountKeys, unopened }: Resealed): string {
  const left = unopened === 0 ? '' : `; ${unopened} secrets that neither key opens are left as they are`;
  const rest = `${erasures} erasures, ${accountKeys} account keys`;
  return `${destinations} destinations, ${sources} sources, ${versions} versions, ${sourceKeys} source keys, ${rest} sealed again${left}`;
}
