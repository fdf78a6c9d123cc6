import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readCommandEnv } from '../../../control-plane/env.ts';
import { signInLinkCommand } from '../../../control-plane/users/commands.ts';
import { databaseAccess } from '../../../shared/postgres/database-access.ts';
import { openStorage } from '../../../shared/postgres/open-storage.ts';
import { EnvError } from '../../../shared/runtime/env.ts';
import { credentialsFile } from '../../local/credentials.ts';
import type { Credentials } from '../../local/credentials.ts';
import { requestSignInCode } from '../../local/sign-in-code.ts';
import { readSignInLinkEnv } from './env.ts';

type Options = { readonly email?: string; readonly role?: string; readonly account?: string };

const program = new Command('sign-in-link')
  .description(
    'Prints a link that signs a browser in to the console, once, within the hour. With DATABASE_URL for the user ' +
      'of --email; without it for the local stack, with its own API key.',
  )
  .option('--email <address>', 'whom it signs in, where DATABASE_URL is set')
  .option('--role <role>', 'adds the user with this role where there is none: admin for the first one')
  .option('--account <id>', 'the account; may be left out where there is only one')
  .action(async (options: Options) => {
    try {
      process.stdout.write(`${await makeLink(options)}\n`);
    } catch (error) {
      const reason = error instanceof EnvError ? error.problems.join('; ') : (error as Error).message;
      process.stderr.write(`sign-in-link: ${reason}\n`);
      process.exitCode = 1;
    }
  });

await program.parseAsync();

async function makeLink(options: Options): Promise<string> {
  const { DATABASE_URL: url, DATABASE_URL_FILE: urlFile } = process.env;
  return (url ?? '') === '' && (urlFile ?? '') === '' ? ofLocalStack(options) : ofDatabase(options);
}

async function ofDatabase({ email, ...options }: Options): Promise<string> {
  if (email === undefined)
    throw new Error('--email is required where DATABASE_URL is set: whom does the link sign in?');
  const storage = await openStorage({ ...databaseAccess(readCommandEnv()), connectionsMax: 2 });
  try {
    const code = await signInLinkCommand({ storage, now: new Date() }, { email, ...options });
    return `Open at the address of the console, once, within the hour: /sign-in#${code}`;
  } finally {
    await storage.close();
  }
}

async function ofLocalStack({ email, role, account }: Options): Promise<string> {
  if (email !== undefined || role !== undefined || account !== undefined) {
    throw new Error('--email, --role and --account need DATABASE_URL; invite people to a local stack in its console');
  }
  const file = credentialsFile(readSignInLinkEnv().SLUICE_DIR);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Error(`there is no local stack (${file}): start it with npm start, or set DATABASE_URL`);
  });
  const credentials = JSON.parse(text) as Credentials;
  return `${credentials.controlPlane}/sign-in#${await requestSignInCode(credentials)}`;
}
