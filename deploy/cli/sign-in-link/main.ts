import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readCommandEnv } from '../../../control-plane/env.ts';
import { signInLinkCommand } from '../../../control-plane/users/commands.ts';
import type { SignInLinkOptions } from '../../../control-plane/users/commands.ts';
import { readStackFolder, readStackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { jsonOption, print } from '../../../shared/command-line/printed.ts';
import type { Printed } from '../../../shared/command-line/printed.ts';
import { CommandError, runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { databaseAccess } from '../../../shared/postgres/database-access.ts';
import { openStorage } from '../../../shared/postgres/open-storage.ts';
import { credentialsFile } from '../../local/credentials.ts';
import type { Credentials } from '../../local/credentials.ts';
import { requestSignInCode } from '../../local/sign-in-code.ts';

type Options = Partial<SignInLinkOptions> & { readonly json?: true };

const program = new Command('sign-in-link')
  .description(
    'Prints a link that signs a browser in to the console, once, within the hour: as the user of --email or, ' +
      'without --email, with the API key of the local stack.',
  )
  .option('--email <address>', 'the user to sign in; needs DATABASE_URL, or a running local stack')
  .option('--role <role>', 'creates a missing user with this role: admin for the first user')
  .option('--account <id or name>', 'the account; optional if there is only one')
  .addOption(jsonOption('for programs: {link}, or {path} of the console'))
  .action((options: Options) =>
    runCommand('sign-in-link', async () => {
      print(await makeLink(options), options);
    }),
  );

await runProgram(program);

async function makeLink({ email, role, account }: Options): Promise<Printed> {
  if (email !== undefined) {
    return ofUser({ email, ...(role === undefined ? {} : { role }), ...(account === undefined ? {} : { account }) });
  }
  if (role !== undefined || account !== undefined) throw new CommandError('--role and --account go with --email');
  return ofLocalStack();
}

async function ofUser(options: SignInLinkOptions): Promise<Printed> {
  const storage = await openStorage({ ...databaseAccess(readCommandEnv()), connectionsMax: 2 });
  try {
    const code = await signInLinkCommand({ storage, now: new Date() }, options);
    const path = `/sign-in#${code}`;
    return { text: `Open at the address of the console, once, within the hour: ${path}`, value: { path } };
  } finally {
    await storage.close();
  }
}

async function ofLocalStack(): Promise<Printed> {
  const file = credentialsFile(readStackFolder(readStackFolderEnv()));
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CommandError(`there is no local stack (${file}): start it with npm start, or give --email`);
  });
  const credentials = JSON.parse(text) as Credentials;
  const link = `${credentials.controlPlane}/sign-in#${await requestSignInCode(credentials)}`;
  return { text: link, value: { link } };
}
