import { Command } from 'commander';
import { CannotStartError, cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';
import { EnvError } from '../../shared/runtime/env.ts';
import { inheritedEnv, readStackEnv } from './env.ts';
import type { StackEnv } from './env.ts';
import { createProgress } from './progress.ts';
import { readyMessage } from './ready-message.ts';
import { makeSignInCode } from './sign-in-code.ts';
import { startStack } from './stack.ts';

// The command has no options: any option is rejected.
new Command('npm start')
  .description(
    'Runs the whole stack on this machine until Ctrl-C. Settings are environment variables: see /docs/settings.html.',
  )
  .parse();

// Without these listeners, the stack would crash when the reader of its output ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const progress = createProgress((text) => process.stdout.write(text));
const stops: (() => Promise<void>)[] = [];
let stopping: Promise<void> | undefined;

function stop(): Promise<void> {
  stopping ??= (async () => {
    for (const undo of stops.toReversed()) {
      try {
        await undo();
      } catch (error) {
        progress.line(`! stopping: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  })();
  return stopping;
}

function stopOnSignal(): void {
  if (stopping === undefined) progress.line('\nstopping …');
  void stop().then(() => {
    progress.line('stopped');
    process.exit(0);
  });
}

function readEnvOrExit(): StackEnv {
  try {
    return readStackEnv();
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(`the environment is not valid:\n${error.problems.map((p) => `  - ${p}`).join('\n')}\n`);
    process.exit(cannotStartExitCode);
  }
}

process.on('SIGINT', stopOnSignal);
process.on('SIGTERM', stopOnSignal);
process.on('SIGHUP', stopOnSignal);

const env = readEnvOrExit();
let isReady = false;
try {
  const stack = await startStack(env, inheritedEnv(), progress, stops);
  progress.line(readyMessage(stack.folder, stack.credentials, await makeSignInCode(stack.credentials)));
  isReady = true;
  await stack.givenUp;
} catch (error) {
  // A stop during the start makes it fail; that is expected.
  if (stopping === undefined) {
    const what = isReady ? 'sluice stops' : 'sluice did not start';
    process.stderr.write(`\n${what}: ${error instanceof Error ? error.message : String(error)}\n`);
    await stop();
    process.exit(error instanceof CannotStartError ? cannotStartExitCode : 1);
  }
}
