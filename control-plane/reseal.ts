import { createSecretBox, createSourceSecretBox, readSecretKeys } from '../shared/contracts/config/secrets.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import { runCommand } from '../shared/command-line/run-command.ts';
import { readSecretsCommandEnv } from './env.ts';
import { resealSecrets } from './rotation/reseal-secrets.ts';
import type { Resealed } from './rotation/reseal-secrets.ts';

// Seals again with SECRETS_KEY and SOURCE_SECRETS_KEY what other keys sealed, and ends: the third step of
// deploy/runbook/rotate-secrets-key.md.
await runCommand('reseal', async () => {
  const env = readSecretsCommandEnv();
  const secretBox = createSecretBox(...readSecretKeys(env));
  const storage = await openStorage({ ...databaseAccess(env), connectionsMax: 2 });
  try {
    const onAccount = (accountId: string, resealed: Resealed): void => say(`account ${accountId}: ${told(resealed)}`);
    const now = (): Date => new Date();
    const total = await resealSecrets({
      storage,
      secretBox,
      sourceSecrets: createSourceSecretBox(env),
      now,
      onAccount,
    });
    say(`in all: ${told(total)}`);
    return total.unopened > 0 ? 1 : 0;
  } finally {
    await storage.close();
  }
});

function told({ destinations, sources, versions, sourceKeys, erasures, accountKeys, unopened }: Resealed): string {
  const left = unopened === 0 ? '' : `; ${unopened} secrets that neither key opens are left as they are`;
  const rest = `${erasures} erasures, ${accountKeys} account keys`;
  return `${destinations} destinations, ${sources} sources, ${versions} versions, ${sourceKeys} source keys, ${rest} sealed again${left}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
